/** The windows that the page has, as it derives them from the menus. */
import { menuOutline, registry } from '@tollway/schema';
import { defineWindows } from '../apps/web/src/windows/define-windows.ts';

/** All windows, in the order of the menu tree. */
export const windowDefinitions = defineWindows(registry.map(menuOutline));
