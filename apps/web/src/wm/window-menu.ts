import { LazyComponent } from '../ui/lazy-component.tsx';

/** The menu of a window, rendered while one is open. */
export const WindowMenu = new LazyComponent(async () => (await import('./WindowMenu.tsx')).WindowMenu);
