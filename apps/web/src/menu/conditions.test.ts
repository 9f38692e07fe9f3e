import { menuByPath, registry } from '@tollway/schema';
import { expect, test } from 'vitest';
import { conditionFields, emptyCondition, filterOf, operatorsFor, wantedAfter } from './conditions.ts';
import { choiceConditions, ORIGINS, offeredValues, quickFilterOf } from './quick-filter.ts';

const filter = menuByPath('/ip/firewall/filter');
const queues = menuByPath('/queue/simple');
if (filter === undefined || queues === undefined) throw new Error('menus are missing');

test('conditions of one property are joined; those without a value say nothing', () => {
  expect(
    filterOf(filter, [
      { prop: 'chain', op: 'is', value: 'forward' },
      { prop: 'bytes', op: 'more', value: '1M' },
      { prop: 'bytes', op: 'less', value: '9M' },
      { prop: 'comment', op: 'contains', value: '' },
    ]),
  ).toEqual({
    chain: 'forward',
    bytes: [
      { op: 'more', value: '1M' },
      { op: 'less', value: '9M' },
    ],
  });
});

test('operators follow the kind of value', () => {
  const operators = (name: string) => operatorsFor(filter.props[name]?.kind ?? queues.props.name?.kind ?? never());
  expect(operators('disabled')).toEqual(['is', 'is-not']);
  expect(operators('bytes')).toContain('more');
  expect(operators('src-address')[0]).toBe('in');
  expect(operators('protocol')[0]).toBe('is');
  expect(operators('comment')).toContain('contains');
  expect(operators('comment')).not.toContain('less');
});

test('a sentence or a time of the log is not asked to be in a list; elsewhere it is said what "in" takes', () => {
  const kindOf = (name: string) => menuByPath('/log')?.props[name]?.kind ?? never();
  for (const name of ['time', 'message']) {
    expect(operatorsFor(kindOf(name))).toEqual(['contains', 'contains-not', 'is', 'is-not']);
  }
  expect(operatorsFor(kindOf('topics'))).toContain('in');
  expect(wantedAfter(kindOf('topics'), 'in')).toBe('whole values: one,another,…');
  expect(wantedAfter(filter.props['src-address']?.kind ?? never(), 'in-not')).toContain('10.0.0.0/8');
  expect(wantedAfter(filter.props['src-address']?.kind ?? never(), 'is')).toBeUndefined();
});

test('flags, comments and halves can be asked for, and every field makes an empty condition', () => {
  const names = conditionFields(filter).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['disabled', 'invalid', 'dynamic', 'comment', 'bytes']));
  expect(conditionFields(queues).map(({ label }) => label)).toContain('Upload Max Limit');
  for (const menu of registry) {
    const fields = conditionFields(menu);
    expect(new Set(fields.map(({ name }) => name)).size, menu.path).toBe(fields.length);
    for (const { name } of fields) expect(emptyCondition(menu, name)).toMatchObject({ prop: name, value: '' });
  }
});

test('the quick filter of the firewall splits by chain and by origin', () => {
  const quickFilter = quickFilterOf(filter);
  expect(quickFilter).toMatchObject({ name: 'chain', origins: true });
  expect(choiceConditions(quickFilter, '')).toEqual([]);
  expect(choiceConditions(quickFilter, 'input')).toEqual([{ prop: 'chain', op: 'is', value: 'input' }]);
  expect(choiceConditions(quickFilter, ':static')).toEqual([{ prop: 'dynamic', op: 'is', value: 'false' }]);
  expect(quickFilterOf(queues)).toBeUndefined();
});

test('no entry of a quick filter reads as a list that always exists', () => {
  const builtin = (menuByPath('/interface/list')?.builtin ?? []).map(({ values }) => values.name);
  expect(builtin).toEqual(['all', 'none', 'dynamic', 'static']);
  for (const menu of registry) {
    const entries = [quickFilterOf(menu)?.all, ...Object.values(ORIGINS)];
    for (const entry of entries) expect(builtin, menu.path).not.toContain(entry ?? '');
  }
  expect(quickFilterOf(menuByPath('/interface/list/member') ?? filter)?.all).toBe('all lists');
});

test('a choice stays in view as long as it is the filter, though nothing is called so any more', () => {
  expect(offeredValues('old', ['input', 'new'])).toEqual(['input', 'new', 'old']);
  expect(offeredValues('input', ['input', 'new'])).toEqual(['input', 'new']);
  expect(offeredValues('', ['input'])).toEqual(['input']);
  expect(offeredValues(':dynamic', ['input'])).toEqual(['input']);
});

test('the quick filter of the log finds a topic among several', () => {
  const log = menuByPath('/log');
  const quickFilter = log && quickFilterOf(log);
  expect(choiceConditions(quickFilter, 'error')).toEqual([{ prop: 'topics', op: 'contains', value: 'error' }]);
  expect(log?.props.topics?.kind.keywords).toContain('error');
});

function never(): never {
  throw new Error('no such property');
}

test('an address alone means its connections whatever their ports are', () => {
  const connections = menuByPath('/ip/firewall/connection') ?? never();
  expect(
    filterOf(connections, [
      { prop: 'src-address', op: 'is', value: '192.168.88.10' },
      { prop: 'dst-address', op: 'is-not', value: '198.51.100.10' },
      { prop: 'dst-address', op: 'is-not', value: '198.51.100.11:53' },
    ]),
  ).toEqual({
    'src-address': [{ op: 'in', value: '192.168.88.10' }],
    'dst-address': [
      { op: 'in-not', value: '198.51.100.10' },
      { op: 'is-not', value: '198.51.100.11:53' },
    ],
  });
});
