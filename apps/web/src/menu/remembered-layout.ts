/** Layout of a table's columns, remembered for each menu in this browser. */
import type { Menu } from '@tollway/schema';
import { readStored, writeStored } from '../ui/browser-storage.ts';
import type { ColumnLayout } from './columns.ts';

const STORED_LAYOUTS = 'columns';

function readAll(): Record<string, ColumnLayout> {
  try {
    const all: unknown = JSON.parse(readStored(STORED_LAYOUTS) ?? '{}');
    return typeof all === 'object' && all !== null ? { ...all } : {};
  } catch {
    return {};
  }
}

/** The layout of a menu's columns that this browser remembers; empty without one. */
export function rememberedLayout(menu: Menu): ColumnLayout {
  const layout: unknown = readAll()[menu.path];
  if (typeof layout !== 'object' || layout === null) return {};
  const { columns, kept, widths }: { columns?: unknown; kept?: unknown; widths?: unknown } = layout;
  return {
    ...(Array.isArray(columns) ? { columns: columns.filter((name) => typeof name === 'string') } : {}),
    ...(Array.isArray(kept) ? { kept: kept.filter((name) => typeof name === 'string') } : {}),
    ...(typeof widths === 'object' && widths !== null
      ? { widths: Object.fromEntries(Object.entries(widths).filter(([, width]) => typeof width === 'number')) }
      : {}),
  };
}

/** Keeps the layout of a menu's columns in this browser. */
export function rememberLayout(menu: Menu, layout: ColumnLayout): void {
  writeStored(STORED_LAYOUTS, JSON.stringify({ ...readAll(), [menu.path]: layout }));
}
