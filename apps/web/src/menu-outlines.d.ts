/** Made by `menu-outlines.ts` beside the configuration of Vite. */
declare module 'virtual:menu-outlines' {
  /** Outlines of all menus, in the order of the registry. */
  const outlines: readonly import('@tollway/schema').MenuOutline[];
  export default outlines;
}
