/** The menu tree, built from the places of the windows. Pure. */
import type { WindowDefinition } from '../windows/define-windows.ts';

interface Branch {
  readonly label: string;
  /** Labels from the root to this branch, joined; identifies the branch. */
  readonly key: string;
  /** Address of the window at this place; undefined for a branch that only has children. */
  readonly address: string | undefined;
  readonly children: readonly Branch[];
}

interface MutableBranch {
  label: string;
  key: string;
  address: string | undefined;
  children: MutableBranch[];
}

/** Builds the tree; a branch is at the position of its first window. */
export function buildTree(definitions: readonly WindowDefinition[]): readonly Branch[] {
  const root: MutableBranch = { label: '', key: '', address: undefined, children: [] };
  for (const definition of definitions) {
    if (definition.tree === undefined) continue;
    let at = root;
    for (const label of definition.tree) {
      let next = at.children.find((child) => child.label === label);
      if (next === undefined) {
        next = { label, key: `${at.key}/${label}`, address: undefined, children: [] };
        at.children.push(next);
      }
      at = next;
    }
    at.address = definition.key;
  }
  return root.children;
}

/** A visible line of the tree. */
export interface TreeLine {
  readonly branch: Branch;
  /** Level in the tree, from 1. */
  readonly level: number;
  readonly parent: string | undefined;
}

/** The visible lines, given the folded branches. */
export function visibleLines(
  branches: readonly Branch[],
  closed: ReadonlySet<string>,
  level = 1,
  parent?: string,
): readonly TreeLine[] {
  return branches.flatMap((branch) => [
    { branch, level, parent },
    ...(closed.has(branch.key) ? [] : visibleLines(branch.children, closed, level + 1, branch.key)),
  ]);
}
