/** The windows of the console, by their addresses. */
import type { MenuOutline, WindowSize } from '@tollway/schema';
import { defineWindows, STANDALONE_WINDOWS, type StandaloneWindow, type WindowDefinition } from './define-windows.ts';
import { menuOutlineAt, menuOutlines } from './menu-outlines.ts';

const standaloneWindow = (address: string): StandaloneWindow | undefined =>
  STANDALONE_WINDOWS.find((each) => each.address === address);

/** The menu to which a window only adds items: users who may not add items there cannot open it. */
export function addsTo(address: string): MenuOutline | undefined {
  const path = standaloneWindow(address)?.addsTo;
  return path === undefined ? undefined : menuOutlineAt(path);
}

/** Initial size of a window, by the address of its first tab; undefined if none is declared. */
export const sizeOf = (address: string): WindowSize | undefined =>
  standaloneWindow(address)?.size ?? menuOutlineAt(address)?.window?.size;

/** All windows, in the order of the menu tree. */
export const windowDefinitions: readonly WindowDefinition[] = defineWindows(menuOutlines);

const byAddress: ReadonlyMap<string, WindowDefinition> = new Map(
  windowDefinitions.flatMap((definition) => definition.tabs.map((tab) => [tab.address, definition] as const)),
);

/** The window that has the tab of this address. */
export function definitionOf(address: string): WindowDefinition | undefined {
  return byAddress.get(address);
}
