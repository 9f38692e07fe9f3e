/** The menu tree, built from the places that the windows name. Pure. */
import type { WindowDefinition } from '../windows/window-definitions.ts';

interface Branch {
  readonly label: string;
  /** Labels from the root to here, joined; names the branch. */
  readonly key: string;
  /** Address of the window that is here; undefined for a branch with children only. */
  readonly address: string | undefined;
  readonly children: readonly Branch[];
}

interface MutableBranch {
  label: string;
  key: string;
  address: string | undefined;
  children: MutableBranch[];
}

/** Builds the tree; branches stand where their first window stands. */
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

/** A line of the tree as it is shown. */
export interface TreeLine {
  readonly branch: Branch;
  /** Level in the tree, from 1. */
  readonly level: number;
  readonly parent: string | undefined;
}

/** The lines that are visible, given the closed branches. */
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
