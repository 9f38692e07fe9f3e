import { expect, test } from 'vitest';
import { dropOf, siblingAbove, stepAmongSiblings, toggled, treePlace, UNFOLDED, whyNotBelow } from './tree.ts';

/** a(b(c), d), e */
const lines = [
  ['a', ''],
  ['b', '*a'],
  ['c', '*a,*b'],
  ['d', '*a'],
  ['e', ''],
].map(([name = '', above = '']) => ({ '.id': `*${name}`, name, '.above': above, '.children': '0', '.open': 'true' }));
const at = (name: string) => {
  const row = lines.find((each) => each.name === name);
  if (row === undefined) throw new Error(`no ${name}`);
  return row;
};
const WHOLE = { matters: true, ended: true };
const drop = (moved: string, onto: string | undefined, share: number, matters = true) =>
  dropOf(lines, [at(moved)], onto === undefined ? undefined : lines.indexOf(at(onto)), share, { ...WHOLE, matters });

test('a row tells its place, a list has none', () => {
  expect(treePlace(at('c'))).toEqual({ above: ['*a', '*b'], children: 0, fold: undefined });
  const parent = { '.above': '', '.children': '2' };
  expect(['true', 'false'].map((open) => treePlace({ ...parent, '.open': open })?.fold)).toEqual(['open', 'folded']);
  // Found: all is shown.
  expect(treePlace(parent)).toEqual({ above: [], children: 2, fold: undefined });
  expect(treePlace({ '.id': '*1' })).toBeUndefined();
  expect(toggled(toggled(UNFOLDED, '*1'), '*2')).toEqual({ folded: false, except: ['*1', '*2'] });
  expect(toggled({ folded: false, except: ['*1', '*2'] }, '*1').except).toEqual(['*2']);
});

test('the middle of a row makes it the parent; circles are refused in words', () => {
  expect(drop('e', 'b', 0.5)).toEqual({ kind: 'below', index: 1, parent: '*b' });
  expect(drop('b', 'a', 0.5)).toEqual({ kind: 'none', index: 0, why: '' });
  expect(drop('a', 'c', 0.5)).toEqual({
    kind: 'none',
    index: 2,
    why: 'c is below a: as its parent it would make a circle',
  });
  expect(drop('a', 'a', 0.5)).toMatchObject({ why: 'a cannot be its own parent' });
  expect(whyNotBelow([at('e')], at('c'))).toBeUndefined();
});

test('below the last row is the root', () => {
  expect(drop('c', undefined, 0)).toEqual({ kind: 'root' });
  expect(drop('a', undefined, 0)).toMatchObject({ kind: 'none' });
});

test('a row that is not loaded is not the root', () => {
  for (const index of [-1, lines.length]) {
    expect(dropOf(lines, [at('c')], index, 0.5, WHOLE)).toEqual({ kind: 'none', index, why: '' });
  }
});

test('the edges of rows move among siblings, where the order counts', () => {
  expect(drop('e', 'a', 0.1)).toEqual({ kind: 'move', index: 0, move: { ids: ['*e'], position: { before: '*a' } } });
  expect(drop('d', 'b', 0.1)).toEqual({ kind: 'move', index: 1, move: { ids: ['*d'], position: { before: '*b' } } });
  // Behind all that is below the last sibling.
  expect(drop('a', 'e', 0.9)).toEqual({ kind: 'move', index: 5, move: { ids: ['*a'], position: { after: '*e' } } });
  expect(drop('b', 'd', 0.9)).toEqual({ kind: 'move', index: 4, move: { ids: ['*b'], position: { after: '*d' } } });
  expect(drop('d', 'c', 0.9)).toMatchObject({ kind: 'none', why: '' });
  // Between rows of another parent: below the row.
  expect(drop('e', 'c', 0.1)).toEqual({ kind: 'below', index: 2, parent: '*c' });
  expect(drop('e', 'a', 0.1, false)).toEqual({ kind: 'below', index: 0, parent: '*a' });
});

test('rows go where the mark is: behind the last sibling only below all that is below it', () => {
  /** z, a(b(c), d): the last root has rows below it. */
  const rows = [{ ...at('e'), '.id': '*z', name: 'z' }, ...lines.slice(0, 4)];
  const [z = at('a')] = rows;
  const aim = (index: number, share: number, order = WHOLE) => dropOf(rows, [z], index, share, order);
  expect(aim(3, 0.9)).toEqual({ kind: 'below', index: 3, parent: '*c' });
  expect(aim(4, 0.1)).toEqual({ kind: 'below', index: 4, parent: '*d' });
  expect(aim(4, 0.9)).toEqual({ kind: 'move', index: 5, move: { ids: ['*z'], position: { after: '*a' } } });
  // The row after the last loaded one is not known.
  expect(aim(4, 0.9, { ...WHOLE, ended: false })).toEqual({ kind: 'below', index: 4, parent: '*d' });
});

test('rows that are not loaded go along', () => {
  const moved = [at('a'), { '.id': '*far' }];
  expect(dropOf(lines, moved, undefined, 0, WHOLE)).toEqual({ kind: 'root' });
  expect(dropOf(lines, moved, 4, 0.5, WHOLE)).toEqual({ kind: 'below', index: 4, parent: '*e' });
  // The parents of these rows are not known.
  expect(dropOf(lines, moved, 4, 0.9, WHOLE)).toEqual({ kind: 'below', index: 4, parent: '*e' });
});

test('steps with the keyboard', () => {
  expect(siblingAbove(lines, at('d'))).toBe(at('b'));
  expect(siblingAbove(lines, at('b'))).toBeUndefined();
  expect(stepAmongSiblings(lines, [at('d')], -1)).toEqual({ ids: ['*d'], position: { before: '*b' } });
  expect(stepAmongSiblings(lines, [at('b')], -1)).toBeUndefined();
  expect(stepAmongSiblings(lines, [at('b')], 1)).toEqual({ ids: ['*b'], position: { after: '*d' } });
  expect(stepAmongSiblings(lines, [at('b'), at('e')], 1)).toBeUndefined();
});
