import type { Condition } from '@tollway/protocol/live/row-query';
import { compareValues, menuByPath, registry } from '@tollway/schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConditionError, columnTest } from '../../src/live/condition.js';
import { MessageError, readMessage } from '../../src/live/message.js';

function holds(path: string, condition: Condition, value: string | undefined): boolean {
  const menu = menuByPath(path);
  if (menu === undefined) throw new Error(`no menu ${path}`);
  return columnTest(menu, condition).holds(value);
}

const CONNECTIONS = '/ip/firewall/connection';
const FILTER = '/ip/firewall/filter';
const QUEUES = '/queue/simple';

describe('a condition', () => {
  it.each<[string, string, Condition['op'], string, (string | undefined)[], (string | undefined)[]]>([
    [FILTER, 'protocol', 'is', '6', ['tcp'], ['udp', undefined]],
    [CONNECTIONS, 'protocol', 'is', '6 (tcp)', ['tcp'], ['udp', undefined]],
    [CONNECTIONS, 'protocol', 'in', '6 (tcp),17 (udp)', ['tcp', 'udp'], ['icmp', undefined]],
    [FILTER, 'protocol', 'is', '!6 (tcp)', ['!tcp'], ['tcp', '!udp', undefined]],
    [CONNECTIONS, 'orig-bytes', 'is', '1.5 KiB', ['1536', '1540'], ['1535', '1.5 KiB.', undefined]],
    [CONNECTIONS, 'orig-bytes', 'in', '1.5 KiB,7', ['1536', '7'], ['1535', undefined]],
    [CONNECTIONS, 'orig-packets', 'is', '319 850', ['319850'], ['319', undefined]],
    [CONNECTIONS, 'timeout', 'is', '1d 00:04:02', ['1d4m2s'], ['4m2s', undefined]],
    [FILTER, 'protocol', 'is-not', 'tcp', ['udp', undefined], ['tcp']],
    [FILTER, 'disabled', 'is', 'true', ['true'], ['false', undefined]],
    [FILTER, 'dynamic', 'is', 'false', ['false', undefined], ['true']],
    [FILTER, 'comment', 'contains', 'TELNET', ['no Telnet'], ['ssh', undefined]],
    [FILTER, 'comment', 'contains-not', 'telnet', ['ssh', undefined], ['No Telnet']],
    [FILTER, 'bytes', 'contains', '240.2 mib', ['251868000'], ['251']],
    [
      FILTER,
      'src-address',
      'in',
      '10.0.0.0/8',
      ['10.1.2.3', '10.1.0.0/16', '10.0.0.1-10.0.0.9'],
      ['11.0.0.1', '0.0.0.0/0', '!10.1.2.3', undefined],
    ],
    [FILTER, 'connection-state', 'in', 'new,related', ['established,related', 'new'], ['established', undefined]],
    [CONNECTIONS, 'src-address', 'in', '10.0.0.0/8', ['10.1.2.3:443', '10.1.2.3'], ['192.168.1.1:10', '[fd00::1]:10']],
    [
      CONNECTIONS,
      'src-address',
      'in',
      '192.168.88.1-192.168.88.9,10.9.9.9',
      ['192.168.88.5:1', '10.9.9.9:7'],
      ['192.168.88.10:1'],
    ],
    [CONNECTIONS, 'src-address', 'in-not', '10.0.0.0/8', ['192.168.1.1:10', undefined], ['10.1.2.3:443']],
    [CONNECTIONS, 'dst-port', 'in', '80,443,8000-8080', ['443', '8080'], ['81', '8081', undefined]],
    [CONNECTIONS, 'orig-rate', 'more', '1M', ['1000001'], ['1000000', '9', undefined]],
    [CONNECTIONS, 'timeout', 'less', '1m', ['59s'], ['1m', '1d']],
    [CONNECTIONS, 'tcp-state', 'in', 'established,close', ['close'], ['time-wait', undefined]],
    [QUEUES, 'max-limit.upload', 'is', '10M', ['10000000/5000000'], ['5000000/10000000']],
    [QUEUES, 'rate.download', 'in', '1M-2M', ['0/1500000'], ['1500000/0']],
    [QUEUES, 'target', 'in', '10.0.0.0/8', ['192.168.1.0/24,10.2.0.0/16'], ['192.168.1.0/24']],
    [QUEUES, '.id', 'is', '*1F', ['*1F'], ['*1', undefined]],
    ['/ip/route', 'gateway', 'in', '10.1.0.0/16', ['10.1.2.3%ether1', '10.1.2.3'], ['ether1', '10.2.0.1']],
  ])('%s %s %s %s', (path, column, op, value, meets, fails) => {
    for (const cell of meets) expect(holds(path, { column, op, value }, cell), String(cell)).toBe(true);
    for (const cell of fails) expect(holds(path, { column, op, value }, cell), String(cell)).toBe(false);
  });

  it.each<[string, Condition['op'], string, string]>([
    ['weather', 'is', 'fine', 'filter: /ip/firewall/connection has no column weather'],
    ['src-address', 'in', 'here', 'filter: value of src-address: here is no address, prefix'],
    ['orig-rate', 'less', 'slow', 'filter: value of orig-rate: slow is not a rate'],
    ['src-address', 'in', '10.0.0.1,', 'filter: value of src-address: a value is missing after the comma; give values'],
    ['dst-port', 'in', '80,,443', 'filter: value of dst-port: a value is missing between two commas; give values'],
    ['dst-port', 'is', 'http', 'filter: value of dst-port: http is not an integer 0..65535'],
    ['dst-port', 'is-not', '70000', 'filter: value of dst-port: 70000 is out of range'],
    ['dst-port', 'in', '80,http', 'filter: value of dst-port: http is not an integer 0..65535'],
    ['protocol', 'is', 'web', 'filter: value of protocol: web is not a protocol name such as tcp'],
    ['protocol', 'in', 'tcp,6 (udp)', 'filter: value of protocol: 6 (udp) is not a protocol name'],
    ['orig-rate', 'is', 'fast', 'filter: value of orig-rate: fast is not a rate'],
    ['assured', 'is', 'perhaps', 'filter: value of assured: perhaps is not'],
    ['dst-port', 'in', '1-70000', 'filter: value of dst-port: 70000 is out of range'],
  ])('%s %s %s is refused', (column, op, value, text) => {
    expect(() => holds(CONNECTIONS, { column, op, value }, undefined)).toThrow(ConditionError);
    expect(() => holds(CONNECTIONS, { column, op, value }, undefined)).toThrow(text);
  });
});

describe('ranges of numbers', () => {
  const TEXTS = [
    '0',
    '1',
    '7',
    '15',
    '1500',
    '2000000',
    '00:05:00',
    '1h30m',
    '250us',
    '5ms',
    '50',
    '99.5',
    '123456789012345678',
  ];
  const columns = registry.flatMap((menu) =>
    menu.kind === 'command'
      ? []
      : Object.entries(menu.props).flatMap(([name, { kind }]) => {
          const values = TEXTS.flatMap((text) => {
            const result = kind.parse(text);
            return result.ok ? [result.value] : [];
          });
          return kind.align === 'right' && !kind.pair && values.length > 1 ? [{ menu, name, kind, values }] : [];
        }),
  );

  it('hold what lies between their bounds in the order of the column', () => {
    expect(columns.map(({ kind }) => kind.name)).toEqual(expect.arrayContaining(['rate', 'duration', 'fine-duration']));
    const column = fc.constantFrom(...columns);
    const [some, index] = [fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 1, maxLength: 3 }), fc.nat()];
    fc.assert(
      fc.property(column, some, index, ({ menu, name, kind, values }, bounds, at) => {
        const one = (n: number) => values[n % values.length] ?? '';
        const ranges = bounds.map(([first, last]) => [one(first), one(last)] as const);
        const value = ranges.map((range) => range.join('-')).join(',');
        const expected = ranges.some(
          ([first, last]) => compareValues(kind, one(at), first) >= 0 && compareValues(kind, one(at), last) <= 0,
        );
        expect(columnTest(menu, { column: name, op: 'in', value }).holds(one(at))).toBe(expected);
      }),
    );
  });
});

describe('a filter', () => {
  const filterOf = (conditions: readonly object[]) =>
    readMessage(JSON.stringify({ op: 'window', id: 1, filter: { timeout: conditions } }));
  const within = (count: number) => ({ op: 'in-not', value: Array(count).fill('0-1').join(',') });

  it('takes so many values after in, in all of its conditions', () => {
    expect(filterOf(Array(2).fill(within(256)))).toMatchObject({ op: 'window' });
    expect(() => filterOf(Array(3).fill(within(171)))).toThrow(MessageError);
    expect(() => filterOf(Array(3).fill(within(171)))).toThrow('513 values after in, 512 are accepted in all');
  });

  it('takes values of so many characters in all', () => {
    const long = { op: 'is', value: 'x'.repeat(4_096) };
    expect(filterOf(Array(4).fill(long))).toMatchObject({ op: 'window' });
    expect(() => filterOf([...Array(4).fill(long), { op: 'is', value: 'x' }])).toThrow(
      'filter: values of 16385 characters, 16384 are accepted in all',
    );
  });
});
