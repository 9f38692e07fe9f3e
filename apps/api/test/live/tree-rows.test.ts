import { type Menu, menuByPath } from '@tollway/schema';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { evaluate } from '../../src/live/evaluate.js';
import { readMessage } from '../../src/live/message.js';
import { ArrayRows } from '../../src/view/rows.js';

const queues = menuByPath('/queue/simple');
if (queues?.props.name === undefined) throw new Error('no menu of queues');
const menu: Menu = { ...queues, props: { ...queues.props, parent: queues.props.name } };

const WINDOW = { filter: [], columns: ['name'], find: '', sort: undefined, first: 0, count: 1000 };
const UNFOLDED = { folded: false, except: new Set<string>() };

const family = [
  ['son', 'mother'],
  ['loner', 'none'],
  ['mother', 'grandmother'],
  ['grandmother', 'none'],
  ['daughter', 'mother'],
].map(([name = '', parent = ''], index) => ({ '.id': `*${index + 1}`, name, parent }));

const shape = (content: { rows: readonly Readonly<Record<string, string>>[] }) =>
  content.rows.map((row) => `${row.name} ${row['.above']} ${row['.children']} ${row['.open']}`);

it('stands depth first, siblings in the order of the list', async () => {
  const content = await evaluate(menu, new ArrayRows(family), { ...WINDOW, tree: UNFOLDED });
  expect(shape(content)).toEqual([
    'loner  0 false',
    'grandmother  1 true',
    'mother *4 2 true',
    'son *4,*3 0 false',
    'daughter *4,*3 0 false',
  ]);
  expect(content.rows.map((row) => row['.nr'])).toEqual(['1', '3', '2', '0', '4']);
});

it('leaves out what is below a folded item, and counts lines', async () => {
  const folded = await evaluate(menu, new ArrayRows(family), { ...WINDOW, tree: { folded: true, except: new Set() } });
  expect(shape(folded)).toEqual(['loner  0 false', 'grandmother  1 false']);
  expect(folded).toMatchObject({ total: 5, matched: 2 });
  const partly = { folded: false, except: new Set(['*3']) };
  expect(shape(await evaluate(menu, new ArrayRows(family), { ...WINDOW, tree: partly }))).toEqual([
    'loner  0 false',
    'grandmother  1 true',
    'mother *4 2 false',
  ]);
});

it('shows what passes with all that it is below, also what is folded; sorting is among siblings', async () => {
  const folded = { folded: true, except: new Set<string>() };
  const found = await evaluate(menu, new ArrayRows(family), { ...WINDOW, find: 'son', tree: folded });
  expect(found.rows.map((row) => row.name)).toEqual(['grandmother', 'mother', 'son']);
  // Those that it is below do not pass themselves.
  expect(found.rows.map((row) => row['.context'])).toEqual(['true', 'true', undefined]);
  expect(found).toMatchObject({ matched: 3, context: 2 });
  // Nothing of it can be folded.
  expect(found.rows.filter((row) => '.open' in row)).toEqual([]);
  const sort = { by: 'name', desc: false };
  const sorted = await evaluate(menu, new ArrayRows(family), { ...WINDOW, sort, tree: UNFOLDED });
  expect(sorted.rows.map((row) => row.name)).toEqual(['grandmother', 'mother', 'daughter', 'son', 'loner']);
});

it('shows every item once, whatever the parents are, circles and windows included', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const parents = fc.array(fc.constantFrom('none', ...names), { minLength: 6, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(parents, fc.nat(7), fc.nat(7), async (list, first, count) => {
      const rows = new ArrayRows(
        names.map((name, index) => ({ '.id': `*${index + 1}`, name, parent: list[index] ?? 'none' })),
      );
      const whole = await evaluate(menu, rows, { ...WINDOW, tree: UNFOLDED });
      expect(whole.rows.map((row) => row.name).sort()).toEqual(names);
      const part = await evaluate(menu, rows, { ...WINDOW, tree: UNFOLDED, first, count });
      expect(part.rows).toEqual(whole.rows.slice(first, first + count));
    }),
  );
});

it('is asked for by the query', () => {
  const message = (tree: unknown) =>
    readMessage(JSON.stringify({ op: 'window', id: 1, tree })) as { query: { tree?: unknown } };
  expect(message({ folded: true, except: ['*1'] }).query.tree).toEqual({ folded: true, except: new Set(['*1']) });
  expect(message(null).query).toEqual({ tree: undefined });
  expect(() => message({ except: 3 })).toThrow('tree must be');
});
