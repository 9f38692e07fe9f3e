import { registry } from '@tollway/schema';
import { expect, test } from 'vitest';
import { buildTree, visibleLines } from './tree.ts';

const tree = buildTree(registry);

test('every menu is in the tree once', () => {
  const paths = visibleLines(tree, new Set())
    .map((line) => line.branch.path)
    .filter((path) => path !== undefined);
  expect([...paths].sort()).toEqual(registry.map((menu) => menu.path).sort());
});

test('a closed branch hides what is below it', () => {
  const open = visibleLines(tree, new Set());
  const firewall = open.find((line) => line.branch.label === 'Firewall');
  const closed = visibleLines(tree, new Set([firewall?.branch.key ?? '']));
  expect(closed.length).toBe(open.length - (firewall?.branch.children.length ?? 0));
  expect(firewall).toMatchObject({ level: 2, parent: '/IP' });
});
