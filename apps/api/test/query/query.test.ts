import { type Menu, menuByPath } from '@tollway/schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  containing,
  filterTest,
  type Item,
  parseProplist,
  project,
  QueryError,
  queryTest,
  type Test,
} from '../../src/query/query.js';
import { ArrayRows } from '../../src/view/rows.js';

function menu(path: string): Menu {
  const found = menuByPath(path);
  if (!found) throw new Error(`no menu ${path}`);
  return found;
}

const routes = menu('/ip/route');
const items: readonly Item[] = [
  {
    '.id': '*1',
    'dst-address': '10.0.0.0/8',
    gateway: '10.1.1.1',
    distance: '2',
    dynamic: 'false',
    active: 'true',
    comment: 'Office',
  },
  { '.id': '*2', 'dst-address': '9.0.0.0/8', distance: '10', dynamic: 'true', connect: 'true' },
  { '.id': '*A', 'dst-address': '192.168.88.0/24', gateway: 'ether1', distance: '1', comment: '' },
];
const ids = (found: readonly Item[]) => found.map((item) => item['.id']);
const passing = (test: Test) => ids(items.filter((_, index) => test(new ArrayRows(items), index)));
const filtered = (filters: Record<string, string>) => passing(filterTest(routes, Object.entries(filters)));
const queried = (...words: string[]) => passing(queryTest(routes, words));

describe('a comparison with a number', () => {
  it.each(['>distance=lots', '<distance=', '>distance='])('%s is refused', (word) => {
    expect(() => queryTest(routes, [word])).toThrow(QueryError);
    expect(() => queryTest(routes, [word])).toThrow(/distance/);
  });

  it('reads amounts as they are given elsewhere', () => {
    const connections = menu('/ip/firewall/connection');
    expect(() => queryTest(connections, ['>orig-bytes=lots'])).toThrow(/is not a number of bytes/);
    const busy = new ArrayRows([{ '.id': '*1', 'orig-bytes': '2097152' }]);
    expect(queryTest(connections, ['>orig-bytes=1M'])(busy, 0)).toBe(true);
  });
});

describe('filters of a GET', () => {
  it.each<[Record<string, string>, string[]]>([
    [{}, ['*1', '*2', '*A']],
    [{ '.id': '*A' }, ['*A']],
    [{ '.id': '*a' }, ['*A']],
    [{ '.id': '*99' }, []],
    [{ dynamic: 'no' }, ['*1', '*A']],
    [{ dynamic: 'false' }, ['*1', '*A']],
    [{ dynamic: 'yes' }, ['*2']],
    [{ connect: 'yes' }, ['*2']],
    [{ connect: 'no' }, ['*1', '*A']],
    [{ distance: '02' }, ['*1']],
    [{ 'dst-address': '10.0.0.0/8' }, ['*1']],
    [{ 'dst-address': '10.1.2.3/8' }, []],
    [{ gateway: '' }, []],
    [{ unknown: 'x' }, []],
    [{ toString: 'x' }, []],
    [{ dynamic: 'no', distance: '1' }, ['*A']],
  ])('%j', (filters, expected) => {
    expect(filtered(filters)).toEqual(expected);
  });
});

describe('.proplist', () => {
  it('takes a comma list or an array and projects in its order', () => {
    expect(parseProplist('.id, dst-address')).toEqual(['.id', 'dst-address']);
    expect(parseProplist(['distance'])).toEqual(['distance']);
    expect(parseProplist(5)).toBeUndefined();
    expect(parseProplist([5])).toBeUndefined();
    const [first] = items;
    expect(first && project(first, ['distance', 'nothing', '.id'])).toEqual({ distance: '2', '.id': '*1' });
  });
});

describe('.query', () => {
  it.each<[string[], string[]]>([
    [[], ['*1', '*2', '*A']],
    [['gateway'], ['*1', '*A']],
    [['-gateway'], ['*2']],
    [['dynamic=yes'], ['*2']],
    [['?=dynamic=no'], ['*1', '*A']],
    [['=distance=1'], ['*A']],
    [['>distance=1'], ['*1', '*2']],
    [['<distance=10'], ['*1', '*A']],
    [['>dst-address=9.255.255.255/32'], ['*1', '*A']],
    [['>comment='], ['*1']],
    [['>.id=*2'], ['*A']],
    [['distance=1', 'distance=2'], []],
    [
      ['distance=1', 'distance=2', '#|'],
      ['*1', '*A'],
    ],
    [['distance=1', 'distance=2', '#|!'], ['*2']],
    [
      ['distance=1', '#!'],
      ['*1', '*2'],
    ],
    [['distance=1', '#.!&'], []],
    [['dynamic=yes', 'distance=10', '#&'], ['*2']],
    [['distance=1', 'distance=2', '#1'], ['*A']],
    [['distance=1', 'distance=2', '#0'], ['*1']],
    [['distance=1', 'distance=2', '#1.|'], ['*A']],
    [['#|'], ['*1', '*2', '*A']],
    [['#7'], ['*1', '*2', '*A']],
    [['#!'], []],
  ])('%j', (words, expected) => {
    expect(queried(...words)).toEqual(expected);
  });

  it.each(['#x', '#', '', '-', '=', '<distance', '>=1', 'a b', '?'])('%j is refused by name', (word) => {
    expect(() => queried(word)).toThrow(QueryError);
    expect(() => queried(word)).toThrow('value of .query');
  });

  it('takes so many values after in, in all of its words', () => {
    const word = (count: number) => `distance in ${Array(count).fill('1-2').join(',')}`;
    expect(queried(...Array(4).fill(word(128)))).toEqual(['*1', '*A']);
    expect(() => queried(...Array(3).fill(word(171)))).toThrow('513 values after in, 512 are accepted in all');
    expect(() => queried(`distance in ${Array(257).fill('1').join(',')}`)).toThrow('257 values after in, 256 are');
  });

  it('agrees with plain logic on or, and, not over any conditions', () => {
    const word = fc.constantFrom('dynamic=yes', 'gateway', '-gateway', 'distance=1', '>distance=1', '<distance=5');
    fc.assert(
      fc.property(word, word, fc.constantFrom('&', '|'), fc.boolean(), (a, b, operation, inverted) => {
        const one = new Set(queried(a));
        const two = new Set(queried(b));
        const expected = ids(items).filter((id) => {
          const both = operation === '&' ? one.has(id) && two.has(id) : one.has(id) || two.has(id);
          return both !== inverted;
        });
        expect(queried(a, b, `#${operation}${inverted ? '!' : ''}`)).toEqual(expected);
      }),
    );
  });

  it('any words give an answer or a QueryError', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string(), fc.stringMatching(/^#[0-9!&|.]{0,9}$/)), { maxLength: 6 }),
        (words) => {
          try {
            expect(queried(...words).length).toBeLessThanOrEqual(items.length);
          } catch (error) {
            expect(error).toBeInstanceOf(QueryError);
          }
        },
      ),
    );
  });
});

describe('find', () => {
  const filter = menu('/ip/firewall/filter');
  const rules: readonly Item[] = [
    { '.id': '*1', chain: 'forward', protocol: 'tcp', bytes: '251868000', log: 'true' },
    { '.id': '*2', chain: 'input', comment: 'No Telnet', packets: '319850' },
  ];
  it.each([
    ['', ['*1', '*2']],
    ['FORW', ['*1']],
    ['6 (tcp)', ['*1']],
    ['240.2 MiB', ['*1']],
    ['telnet', ['*2']],
    ['319 850', ['*2']],
    ['319850', []],
    ['true', []],
    ['*1', []],
  ])('%j', (text, expected) => {
    expect(ids(rules.filter(containing(filter, text)))).toEqual(expected);
  });

  it('does not look into passwords', () => {
    const users = [{ '.id': '*1', name: 'bob', password: 'swordfish' }];
    expect(users.filter(containing(menu('/user'), 'sword'))).toEqual([]);
  });
});
