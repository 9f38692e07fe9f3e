/** The menu tree, built from the places that the menus name. Pure. */
import type { Menu } from '@tollway/schema';

export interface Branch {
  readonly label: string;
  /** Labels from the root to here, joined; names the branch. */
  readonly key: string;
  /** Path of the menu that is here; undefined for a branch with children only. */
  readonly path: string | undefined;
  readonly children: readonly Branch[];
}

interface Growing {
  label: string;
  key: string;
  path: string | undefined;
  children: Growing[];
}

/** Builds the tree; branches stand where their first menu stands. */
export function buildTree(menus: readonly Menu[]): readonly Branch[] {
  const root: Growing = { label: '', key: '', path: undefined, children: [] };
  for (const menu of menus) {
    let at = root;
    for (const label of menu.tree) {
      let next = at.children.find((child) => child.label === label);
      if (next === undefined) {
        next = { label, key: `${at.key}/${label}`, path: undefined, children: [] };
        at.children.push(next);
      }
      at = next;
    }
    at.path = menu.path;
  }
  return root.children;
}

/** A line of the tree as it is shown. */
export interface TreeLine {
  readonly branch: Branch;
  /** From 1. */
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
