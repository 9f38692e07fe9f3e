import type { Indexes } from '../scheduling/merge-sort.js';
import type { TimeSlicer } from '../scheduling/time-slicer.js';
import type { RowSet } from '../view/rows.js';
import type { TreeShape } from './row-query.js';

/** A line of a tree: an item and its position. */
export interface TreeLine {
  readonly index: number;
  /** `.id`s of its ancestors, starting with the root. */
  readonly above: readonly string[];
  /** Number of its children that are shown. */
  readonly children: number;
  /** Whether its children are shown; undefined where they cannot be hidden. */
  readonly open: boolean | undefined;
  /** True if it is shown only because descendants pass the filter. */
  readonly context: boolean;
}

const NO_CHILDREN: readonly number[] = [];

/**
 * The items depth first. Siblings are in the order of `order`.
 *
 * @param order all items
 * @param passed items to show; their ancestors are added, and collapsed branches are expanded; undefined shows all
 */
export async function treeLines(
  set: RowSet,
  order: Iterable<number>,
  passed: Indexes | undefined,
  shape: TreeShape,
  slicer: TimeSlicer,
): Promise<TreeLine[]> {
  const parents = await parentsOf(set, slicer);
  const shown = passed === undefined ? undefined : withAncestors(passed, parents);
  const passing = passed === undefined ? undefined : new Set(passed);
  const below = new Map<number, number[]>();
  const roots: number[] = [];
  let visited = 0;
  for (const index of order) {
    visited += 1;
    if (slicer.overAt(visited)) await slicer.pause();
    if (shown !== undefined && !shown.has(index)) continue;
    const parent = parents[index] ?? -1;
    const siblings = parent < 0 ? roots : (below.get(parent) ?? []);
    if (parent >= 0) below.set(parent, siblings);
    siblings.push(index);
  }
  const lines: TreeLine[] = [];
  const placed = new Uint8Array(set.length);
  const place = async (root: number): Promise<void> => {
    const waiting: { index: number; above: readonly string[] }[] = [{ index: root, above: [] }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { index, above } = next;
      if (placed[index] === 1) continue;
      if (slicer.overAt(lines.length)) await slicer.pause();
      placed[index] = 1;
      const children = below.get(index) ?? NO_CHILDREN;
      const id = set.id(index);
      const open = shown === undefined ? shape.folded === shape.except.has(id) : undefined;
      const context = passing !== undefined && !passing.has(index);
      lines.push({ index, above, children: children.length, open, context });
      if (open === false || children.length === 0) continue;
      const path = [...above, id];
      for (const child of children.toReversed()) waiting.push({ index: child, above: path });
    }
  };
  for (const root of roots) await place(root);
  // Items whose parents form a circle have no root. They are included so that they can be corrected.
  for (const index of circular(order, parents, shown)) await place(index);
  return lines;
}

/** Index of each item's parent; -1 for items without one in the menu. */
async function parentsOf(set: RowSet, slicer: TimeSlicer): Promise<Int32Array> {
  const byName = new Map<string, number>();
  for (let index = 0; index < set.length; index += 1) {
    if (slicer.overAt(index)) await slicer.pause();
    const name = set.value(index, 'name');
    if (name !== undefined) byName.set(name, index);
  }
  const parents = new Int32Array(set.length);
  for (let index = 0; index < set.length; index += 1) {
    if (slicer.overAt(index)) await slicer.pause();
    const name = set.value(index, 'parent');
    parents[index] = (name === undefined ? undefined : byName.get(name)) ?? -1;
  }
  return parents;
}

function withAncestors(passed: Indexes, parents: Int32Array): ReadonlySet<number> {
  const shown = new Set<number>();
  for (const start of passed) {
    for (let index = start; index >= 0 && !shown.has(index); index = parents[index] ?? -1) shown.add(index);
  }
  return shown;
}

/** One item of each circle; the others are its descendants. */
function* circular(
  order: Iterable<number>,
  parents: Int32Array,
  shown: ReadonlySet<number> | undefined,
): Generator<number> {
  // 0: not visited; 1: leads to a root; otherwise the number of the walk that visited it.
  const seen = new Uint32Array(parents.length);
  let walk = 1;
  for (const start of order) {
    if (shown !== undefined && !shown.has(start)) continue;
    walk += 1;
    let index = start;
    while (index >= 0 && seen[index] === 0) {
      seen[index] = walk;
      index = parents[index] ?? -1;
    }
    if (index >= 0 && seen[index] === walk) yield index;
  }
}
