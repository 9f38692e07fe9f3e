/** Plugin of Vite: the module `virtual:menu-outlines` is the outlines of all menus, by which the desktop finds windows. */
import type { Plugin } from 'vite';

const NAME = 'virtual:menu-outlines';
/** Its resolved name; other plugins leave names with this prefix alone. */
const RESOLVED = `\0${NAME}`;

export const menuOutlines: Plugin = {
  name: 'menu-outlines',
  resolveId: (id) => (id === NAME ? RESOLVED : undefined),
  async load(id) {
    if (id !== RESOLVED) return undefined;
    // Where nothing is built yet, projects of the tests that do not ask for it still run.
    const { menuOutline, registry } = await import('@tollway/schema');
    return `export default ${JSON.stringify(registry.map(menuOutline))};`;
  },
};
