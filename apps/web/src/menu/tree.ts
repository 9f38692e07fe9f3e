/** Menus whose items have parents, shown as a tree: where rows stand in it, and what may go where. Pure. */
import type { Menu } from '@tollway/schema';
import { isTree } from '@tollway/schema';
import type { TreeShape } from '../api/live-menu.ts';
import type { Row } from '../api/row.ts';
import { dropAt, type Move } from './row-moves.ts';

export const UNFOLDED: TreeShape = { folded: false, except: [] };
export const FOLDED: TreeShape = { folded: true, except: [] };

/** Place of a row in the tree. */
interface TreePlace {
  /** Ids of the items that it is below, from the root. */
  readonly above: readonly string[];
  /** Number of items directly below it. */
  readonly children: number;
  /** Whether what is below it is shown; undefined when there is nothing, or it is shown in any case. */
  readonly fold: 'open' | 'folded' | undefined;
}

/** The parent of an item at the root. */
export function rootParent(menu: Menu): string {
  return menu.props.parent?.default ?? 'global';
}

/** Trees are how most menus with parents are read; where the order counts, the list is. */
export function usualTree(menu: Menu): TreeShape | null {
  return isTree(menu) && menu.kind !== 'ordered' ? UNFOLDED : null;
}

/** The place of a row; undefined while the menu is shown as a list. */
export function treePlace(row: Row): TreePlace | undefined {
  const above = row['.above'];
  if (above === undefined) return undefined;
  const children = Number(row['.children']) || 0;
  const open = row['.open'];
  return {
    above: above === '' ? [] : above.split(','),
    children,
    fold: children === 0 || open === undefined ? undefined : open === 'true' ? 'open' : 'folded',
  };
}

/** Folds an item that is open, and opens one that is folded. */
export function toggled({ folded, except }: TreeShape, id: string): TreeShape {
  const rest = except.filter((each) => each !== id);
  return { folded, except: rest.length < except.length ? rest : [...except, id] };
}

const idOf = (row: Row): string => row['.id'] ?? '';
const nameOf = (row: Row): string => row.name ?? idOf(row);

/** Reason why rows cannot become children of another one; undefined when they can. */
export function whyNotBelow(rows: readonly Row[], parent: Row): string | undefined {
  const above = treePlace(parent)?.above ?? [];
  for (const row of rows) {
    if (idOf(row) === idOf(parent)) return `${nameOf(row)} cannot be its own parent`;
    if (above.includes(idOf(row))) {
      return `${nameOf(parent)} is below ${nameOf(row)}: as its parent it would make a circle`;
    }
  }
  return undefined;
}

/** Effect of a drop at a place. */
export type Drop =
  /** Make the rows children of the row at `index`. */
  | { readonly kind: 'below'; readonly index: number; readonly parent: string }
  /** Take the rows out to the root. */
  | { readonly kind: 'root' }
  /** Put the rows among their siblings, before the row at `index`. */
  | { readonly kind: 'move'; readonly index: number; readonly move: Move }
  /** No effect, and the reason. */
  | { readonly kind: 'none'; readonly index: number; readonly why: string };

/** Part of the height of a row, at its upper and its lower edge, that means the gap beside it. */
const EDGE = 0.25;

/**
 * Effect of a drop of rows.
 *
 * @param lines the loaded rows in order
 * @param moved rows that are dragged, in their order; those that are not loaded with their id alone
 * @param index position of the row under the pointer in `lines`, beyond which it is not loaded; undefined below the
 *   last row of the list
 * @param share how far down in that row the pointer is, 0 to 1
 * @param order what counts of the order of siblings: it `matters`, and `ended` when `lines` reach to the end of the list
 */
export function dropOf(
  lines: readonly Row[],
  moved: readonly Row[],
  index: number | undefined,
  share: number,
  { matters, ended }: { readonly matters: boolean; readonly ended: boolean },
): Drop {
  if (index === undefined) {
    return moved.every((row) => treePlace(row)?.above.length === 0)
      ? { kind: 'none', index: lines.length, why: '' }
      : { kind: 'root' };
  }
  const parent = lines[index];
  // The row there is not loaded yet.
  if (parent === undefined) return { kind: 'none', index, why: '' };
  if (matters && (share < EDGE || share > 1 - EDGE)) {
    const gap = share < EDGE ? index : index + 1;
    const move = gap === lines.length && !ended ? undefined : moveInto(lines, moved, gap);
    if (move === 'stay') return { kind: 'none', index, why: '' };
    if (move !== undefined) return { kind: 'move', index: gap, move };
  }
  const why = whyNotBelow(moved, parent);
  if (why !== undefined) return { kind: 'none', index, why };
  const there = moved.every((row) => treePlace(row)?.above.at(-1) === idOf(parent));
  return there ? { kind: 'none', index, why: '' } : { kind: 'below', index, parent: idOf(parent) };
}

/** A move into a gap between siblings of the rows; undefined when the gap is between others. */
function moveInto(lines: readonly Row[], moved: readonly Row[], gap: number): Move | 'stay' | undefined {
  if (moved.some((row) => treePlace(row) === undefined)) return undefined;
  const parents = new Set(moved.map((row) => treePlace(row)?.above.at(-1)));
  if (parents.size !== 1) return undefined;
  const [parent] = parents;
  const isSibling = (row: Row | undefined) => row !== undefined && treePlace(row)?.above.at(-1) === parent;
  const siblings = lines.filter(isSibling).map(idOf);
  const [after, before] = [lines[gap], lines[gap - 1]];
  let at: number;
  if (after !== undefined && isSibling(after)) at = siblings.indexOf(idOf(after));
  else {
    // Behind the last sibling and all that is below it.
    const last = siblings.at(-1) ?? '';
    const reaches = (row: Row | undefined) =>
      row !== undefined && (idOf(row) === last || treePlace(row)?.above.includes(last) === true);
    if (!reaches(before) || reaches(after)) return undefined;
    at = siblings.length;
  }
  return dropAt(siblings, moved.map(idOf), at) ?? 'stay';
}

/** The sibling above a row, of those that are loaded: the one that it can go below. */
export function siblingAbove(lines: readonly Row[], row: Row): Row | undefined {
  const parent = treePlace(row)?.above.at(-1);
  const at = lines.findIndex((each) => idOf(each) === idOf(row));
  return lines.slice(0, Math.max(at, 0)).findLast((each) => treePlace(each)?.above.at(-1) === parent);
}

/** Moves the rows one place up or down among their siblings, of those that are loaded; undefined at the end. */
export function stepAmongSiblings(lines: readonly Row[], moved: readonly Row[], by: -1 | 1): Move | undefined {
  const parents = new Set(moved.map((row) => treePlace(row)?.above.at(-1)));
  if (parents.size !== 1) return undefined;
  const [parent] = parents;
  const siblings = lines.filter((row) => treePlace(row)?.above.at(-1) === parent).map(idOf);
  const ids = moved.map(idOf);
  const first = siblings.findIndex((id) => ids.includes(id));
  const last = siblings.findLastIndex((id) => ids.includes(id));
  return by < 0 ? dropAt(siblings, ids, Math.max(first - 1, 0)) : dropAt(siblings, ids, last + 2);
}
