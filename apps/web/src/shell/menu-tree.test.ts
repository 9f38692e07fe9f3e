import { expect, test } from 'vitest';
import { windowDefinitions } from '../windows/window-definitions.ts';
import { buildTree, visibleLines } from './menu-tree.ts';

const tree = buildTree(windowDefinitions);

test('every window that has a place in the tree is there once', () => {
  const addresses = visibleLines(tree, new Set())
    .map((line) => line.branch.address)
    .filter((address) => address !== undefined);
  const placed = windowDefinitions
    .filter((definition) => definition.tree !== undefined)
    .map((definition) => definition.key);
  expect([...addresses].sort()).toEqual([...placed].sort());
});

test('a closed branch hides what is below it', () => {
  const open = visibleLines(tree, new Set());
  const ip = open.find((line) => line.branch.label === 'IP');
  const closed = visibleLines(tree, new Set([ip?.branch.key ?? '']));
  expect(closed.length).toBe(open.length - (ip?.branch.children.length ?? 0));
  expect(open.find((line) => line.branch.label === 'Firewall')).toMatchObject({ level: 2, parent: '/IP' });
});
