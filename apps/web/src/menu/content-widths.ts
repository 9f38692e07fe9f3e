/** Widths that columns need for their content, and the grid tracks that follow from widths and free space. */

import type { Menu } from '@tollway/schema';
import type { LiveMenu } from '../api/live-menu.ts';
import { markColumn } from './cells/row-mark.ts';
import { cellText } from './cells/text.ts';
import { type Column, MIN_WIDTH } from './columns.ts';
import { treePlace } from './tree.ts';

/** Space for the icon of an action or a mark, px. */
const ICON_PX = 20;
/** Space for the symbol of a hint, px. */
const HINT_PX = 18;
/** Space for the button that folds a branch, and for each level of a tree, px. */
const HANDLE_PX = 16;
const LEVEL_PX = 14;
/** Minimum width of a column that carries a tree, px, as the number of levels changes. */
const TREE_PX = 150;
/** Space for the bar of a share, px. */
const SHARE_PX = 110;
/** Maximum width of a title that determines the width of a column, px; longer titles are cut off. */
const WIDEST_TITLE = 150;

/** Maximum width of a column by its content, px. */
const MAX_PX = 1200;

const pxOf = ({ width, label }: Column): number => width ?? Math.max(60, label.length * 8 + 26);

/**
 * The value of `grid-template-columns` for a table of width `tableWidth`, px. Free space is given to columns with cut
 * off texts, as far as they need it; the rest is given to the last column, or to an empty track after it if it is
 * right-aligned.
 */
export function tracks(columns: readonly Column[], tableWidth = 0): string {
  const last = columns.length - 1;
  let freeSpace = Math.max(0, tableWidth - columns.reduce((sum, column) => sum + pxOf(column), 0));
  return columns
    .map((column, index) => {
      const own = pxOf(column);
      const more = Math.min(freeSpace, Math.max(0, (column.contentWidth ?? own) - own));
      freeSpace -= more;
      const px = `${own + more}px`;
      if (index < last) return px;
      return column.right ? `${px} minmax(0, 1fr)` : `minmax(${px}, 1fr)`;
    })
    .join(' ');
}

/** Columns among `names` that are too narrow for the loaded rows, and the widths that they need, px. */
export function grownWidths(
  columns: readonly Column[],
  names: ReadonlySet<string>,
  fit: (column: Column) => number,
): readonly (readonly [string, number])[] {
  return columns.flatMap((column) => {
    if (!names.has(column.name) || column.width === undefined) return [];
    const needs = fit(column);
    return needs > Math.max(column.width, column.contentWidth ?? 0) ? [[column.name, needs] as const] : [];
  });
}

/** Width that fits the title and the loaded content of a column, px. `font`: font of the cells. */
export function fitWidth(menu: Menu, live: LiveMenu, column: Column, font: string): number {
  const context = document.createElement('canvas').getContext('2d');
  if (context !== null) context.font = font;
  const width = (text: string) => context?.measureText(text).width ?? text.length * 7;
  const { source } = column;
  let widest = Math.min(WIDEST_TITLE, width(column.label) * 1.06 + 16);
  if (source !== undefined) {
    const icon = column.name === 'action' || column.name === markColumn(menu) ? ICON_PX : 2;
    for (const id of live.shown) {
      const row = live.row(id);
      if (row === undefined) continue;
      const place = column.tree === true ? treePlace(row) : undefined;
      const indent = place === undefined ? 0 : HANDLE_PX + place.above.length * LEVEL_PX;
      const sign = column.name === markColumn(menu) && (row.hint ?? '') !== '' ? HINT_PX : 0;
      widest = Math.max(widest, width(cellText(source, row)) + icon + sign + indent);
    }
    // Changing numbers get space to grow, so that columns do not move.
    if (source.kind.share === true) widest = Math.max(widest, SHARE_PX);
    const unseen = live.state.matched > live.shown.length;
    // Addresses do not change: wider ones can only be in rows that are not loaded.
    const grows = source.kind.filterType === 'address' ? unseen : source.prop.readOnly === true;
    if (grows) widest = Math.max(widest, width(source.kind.widest ?? ''));
  }
  if (column.tree === true) widest = Math.max(widest, TREE_PX);
  return Math.ceil(Math.min(MAX_PX, Math.max(MIN_WIDTH, widest)) + 14);
}
