/** Menus whose items have parents, shown as a tree: positions of rows, and effects of moves. Pure. */
import type { Menu } from '@tollway/schema';
import { isTree } from '@tollway/schema';
import type { TreeShape } from '../api/live-menu.ts';
import type { Row } from '../api/row.ts';
import { dropAt, type Move } from './row-moves.ts';

export const UNFOLDED: TreeShape = { folded: false, except: [] };
export const FOLDED: TreeShape = { folded: true, except: [] };

/** Position of a row in the tree. */
interface TreePlace {
  /** Ids of its ancestors, from the root. */
  readonly above: readonly string[];
  /** Number of its children. */
  readonly children: number;
  /** Whether its children are shown; undefined when there are none, or when they are always shown. */
  readonly fold: 'open' | 'folded' | undefined;
}

/** The parent of an item at the root. */
export function rootParent(menu: Menu): string {
  return menu.props.parent?.default ?? 'global';
}

/** The default: most menus with parents are shown as a tree; menus in which the order matters are shown as a list. */
export function usualTree(menu: Menu): TreeShape | null {
  return isTree(menu) && menu.kind !== 'ordered' ? UNFOLDED : null;
}

/** The position of a row; undefined while the menu is shown as a list. */
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

/** Folds an unfolded item, and unfolds a folded one. */
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

/** Effect of a drop at a position. */
export type Drop =
  /** Makes the rows children of the row at `index`. */
  | { readonly kind: 'below'; readonly index: number; readonly parent: string }
  /** Moves the rows to the root. */
  | { readonly kind: 'root' }
  /** Moves the rows among their siblings, before the row at `index`. */
  | { readonly kind: 'move'; readonly index: number; readonly move: Move }
  /** No effect, with the reason. */
  | { readonly kind: 'none'; readonly index: number; readonly why: string };

/** Share of the height of a row, at its upper and lower edge, in which a drop refers to the gap next to the row. */
const EDGE = 0.25;

/**
 * Effect of a drop of rows.
 *
 * @param lines the loaded rows in order
 * @param moved the dragged rows, in their order; rows that are not loaded have only an id
 * @param index index in `lines` of the row under the pointer, which may be beyond its end, where rows are not loaded;
 * undefined below the last row of the list
 * @param share relative position of the pointer in that row, 0 at its top to 1 at its bottom
 * @param order `matters`: whether the order of siblings matters; `ended`: whether `lines` reach the end of the list
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
  // The row at this position is not loaded yet.
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

/** A move into a gap between siblings of the rows; undefined if other rows are next to the gap. */
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
    // After the last sibling and all its descendants.
    const last = siblings.at(-1) ?? '';
    const reaches = (row: Row | undefined) =>
      row !== undefined && (idOf(row) === last || treePlace(row)?.above.includes(last) === true);
    if (!reaches(before) || reaches(after)) return undefined;
    at = siblings.length;
  }
  return dropAt(siblings, moved.map(idOf), at) ?? 'stay';
}

/** The previous sibling of a row, if it is loaded: the row can become its child. */
export function siblingAbove(lines: readonly Row[], row: Row): Row | undefined {
  const parent = treePlace(row)?.above.at(-1);
  const at = lines.findIndex((each) => idOf(each) === idOf(row));
  return lines.slice(0, Math.max(at, 0)).findLast((each) => treePlace(each)?.above.at(-1) === parent);
}

/** Moves the rows up or down by one among their loaded siblings; undefined at the end. */
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
