/** Dialogs above the desktop. Their code is fetched in the background, long before one is shown. */
import { LazyComponent } from '../ui/lazy-component.tsx';

export const DiscardDialog = new LazyComponent(async () => (await import('./DiscardDialog.tsx')).DiscardDialog);
export const LoginAgain = new LazyComponent(async () => (await import('./LoginAgain.tsx')).LoginAgain);
export const WindowList = new LazyComponent(async () => (await import('./WindowList.tsx')).WindowList);
