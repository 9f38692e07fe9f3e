import { describe, expect, it } from 'vitest';
import { lintSteps } from '../../src/lint/queues.js';
import { runToEnd } from '../../src/scheduling/time-slicer.js';
import { ports, snapshotOf, type Written } from '../config/rows.js';

/** Findings about queues, `name finding property`. */
function lint(simple: readonly Written[], tree: readonly Written[] = [], invalid: readonly number[] = []): string[] {
  const snapshot = snapshotOf({ '/interface/ethernet': ports(2), '/queue/simple': simple, '/queue/tree': tree });
  return runToEnd(lintSteps(snapshot, new Map(invalid.map((row) => [row, 'why'])))).map(
    ({ name, finding, property }) => `${name} ${finding} ${property}`,
  );
}

const queue = (name: string, more: Written = {}): Written => ({
  name,
  target: `10.0.0.${name.charCodeAt(0)}/32`,
  ...more,
});
const top = (more: Written): Written => ({ name: 'top', target: '10.0.0.0/8', ...more });
const child = (name: string, more: Written = {}): Written =>
  queue(name, { parent: 'top', 'max-limit': '1/1', ...more });

const about = (kind: string, found: readonly string[]) => found.filter((text) => text.includes(` ${kind} `));

describe('rates of queues', () => {
  it('that promise nothing wrong are not spoken of', () => {
    const family = [
      top({ 'max-limit': '10/10' }),
      child('a', { 'limit-at': '4/4', 'max-limit': '10/10', priority: '1/2' }),
      child('b', {
        'limit-at': '6/6',
        'max-limit': '9/9',
        'burst-limit': '10/10',
        'burst-threshold': '5/5',
        'burst-time': '8s/8s',
      }),
    ];
    expect(lint(family)).toEqual([]);
  });

  it('promise more together than the parent has, counted at a root by what it may pass', () => {
    const children = [child('a', { 'limit-at': '6/1' }), child('b', { 'limit-at': '5/1' })];
    expect(about('limit-at-over-parent', lint([top({ 'max-limit': '10/10' }), ...children]))).toEqual([
      'top limit-at-over-parent max-limit',
    ]);
    expect(about('limit-at-over-parent', lint([top({}), ...children]))).toEqual([]);
    const below = [
      top({}),
      { ...child('m', { 'limit-at': '3/2', 'max-limit': '9/9' }) },
      ...children.map((row) => ({ ...row, parent: 'm' })),
    ];
    expect(about('limit-at-over-parent', lint(below))).toEqual(['m limit-at-over-parent limit-at']);
  });

  it('are below what is promised, or above what the parent may pass', () => {
    const found = lint([
      top({ 'max-limit': '10/10' }),
      child('a', { 'limit-at': '2/0', 'max-limit': '1/11' }),
      child('b', { 'max-limit': '10/10' }),
    ]);
    expect(about('max-limit-below-limit-at', found)).toEqual(['a max-limit-below-limit-at max-limit']);
    const alone = lint([], [{ name: 'up', parent: 'ether1', 'limit-at': '6', 'max-limit': '5' }]);
    expect(alone).toEqual(['up limit-at-without-parent limit-at']);
    expect(about('max-limit-over-parent', found)).toEqual(['a max-limit-over-parent max-limit']);
  });

  it('and priorities have no effect without a parent or on one', () => {
    const found = lint([
      top({ 'limit-at': '1/0', priority: '1/8' }),
      child('a', { priority: '2/2' }),
      child('b', { priority: '2/2', 'max-limit': '0/5' }),
      queue('c', { 'limit-at': '0/5', 'max-limit': '9/9' }),
    ]);
    expect(about('limit-at-without-parent', found)).toEqual([
      'top limit-at-without-parent limit-at',
      'c limit-at-without-parent limit-at',
    ]);
    expect(about('priority-without-effect', found)).toEqual(['top priority-without-effect priority']);
  });

  it.each([
    ['above max-limit only', { 'max-limit': '5/5', 'burst-limit': '5/6' }, 1],
    ['with max-limit', { 'burst-limit': '5/6' }, 2],
    ['with a time', { 'max-limit': '5/5', 'burst-limit': '6/6', 'burst-threshold': '1/1' }, 2],
    ['with a threshold', { 'max-limit': '5/5', 'burst-limit': '6/6', 'burst-time': '8s/8s' }, 2],
    ['and are good', { 'max-limit': '5/5', 'burst-limit': '6/6', 'burst-time': '8s/8s', 'burst-threshold': '1/1' }, 0],
  ])('burst %s', (_what, rates, count) => {
    const burst = { 'burst-time': '0s/0s', 'burst-threshold': '0/0', ...rates };
    if (count === 1) Object.assign(burst, { 'burst-time': '8s/8s', 'burst-threshold': '1/1' });
    expect(about('burst-without-effect', lint([queue('a', burst)]))).toHaveLength(count);
  });

  it('of both directions together, and of trees, are looked at too', () => {
    const simple = lint([
      top({ 'total-max-limit': '10' }),
      child('a', { 'total-limit-at': '11', 'total-max-limit': '12', 'total-priority': '3' }),
    ]);
    expect(simple.filter((text) => text.includes('total-'))).toEqual([
      'top limit-at-over-parent total-max-limit',
      'a max-limit-over-parent total-max-limit',
    ]);
    const tree = lint(
      [],
      [
        { name: 'up', parent: 'ether1', 'max-limit': '10', priority: '1' },
        { name: 'voip', parent: 'up', 'limit-at': '20', 'max-limit': '5', priority: '1' },
      ],
    );
    expect(tree).toEqual([
      'up limit-at-over-parent max-limit',
      'up priority-without-effect priority',
      'voip max-limit-below-limit-at max-limit',
    ]);
  });

  it('of queues that are off or cannot work are left out', () => {
    expect(
      lint(
        [queue('a', { 'limit-at': '1/1', disabled: 'true' }), queue('b', { 'limit-at': '1/1', '.id': '77' })],
        [],
        [77],
      ),
    ).toEqual([]);
  });
});

describe('targets of queues', () => {
  const shadowed = (...queues: Written[]) => about('shadowed', lint(queues)).map((text) => text.split(' ')[0]);

  it.each([
    ['the same', ['10.0.0.1/32', '10.0.0.1/32'], ['b']],
    ['a wider one', ['10.0.0.0/24', '10.0.0.7/32'], ['b']],
    ['several that make it up', ['10.0.0.0/25,10.0.0.128/25', '10.0.0.0/24'], ['b']],
    ['half of it', ['10.0.0.0/25', '10.0.0.0/24'], []],
    ['one of two', ['10.0.0.1/32', '10.0.0.1/32,10.0.0.2/32'], []],
    ['a narrower one', ['10.0.0.7/32', '10.0.0.0/24'], []],
    ['IPv6', ['2001:db8::/32', '2001:db8:1::/48'], ['b']],
    ['the other family', ['0.0.0.0/0', '2001:db8::/32'], []],
    ['the same interface', ['ether1', 'ether1'], ['b']],
    ['everything', ['0.0.0.0/0,::/0', 'ether1'], ['b']],
    ['another interface', ['ether1', 'ether2'], []],
  ])('are taken by %s', (_what, [a, b], names) => {
    expect(shadowed({ name: 'a', target: a }, { name: 'b', target: b })).toEqual(names);
  });

  it('are taken only where as much or less is asked for, among siblings', () => {
    const target = '10.0.0.0/24';
    expect(shadowed({ name: 'a', target, dst: '1.1.1.1/32' }, { name: 'b', target })).toEqual([]);
    expect(shadowed({ name: 'a', target }, { name: 'b', target, 'packet-marks': 'x' })).toEqual(['b']);
    expect(shadowed({ name: 'a', target, time: '8h-9h' }, { name: 'b', target, time: '8h-9h' })).toEqual(['b']);
    expect(
      shadowed({ name: 'a', target }, { name: 'b', target, parent: 'a' }, { name: 'c', target, parent: 'a' }),
    ).toEqual(['c']);
  });

  it('that are the other end of what an earlier queue holds are taken too', () => {
    const found = lint([
      queue('a'),
      { name: 'b', target: '10.1.0.0/16', dst: '10.0.0.97/32' },
      { name: 'c', target: '10.2.0.0/16', dst: '10.0.0.96/31' },
    ]);
    expect(found).toEqual(['b shadowed dst']);
  });

  it('that lie outside of the parent get little, which is said of addresses alone', () => {
    const below = (target: string, more: Written = {}) =>
      about(
        'outside-parent',
        lint([
          { name: 'top', target: '10.1.0.0/16', ...more },
          { name: 'a', target, parent: 'top' },
        ]),
      );
    expect(below('10.2.0.0/24')).toEqual(['a outside-parent target']);
    expect(below('2001:db8::/32')).toEqual(['a outside-parent target']);
    expect(below('10.1.2.3/32')).toEqual([]);
    expect(below('10.2.0.1/32,10.1.0.1/32')).toEqual([]);
    expect(below('10.0.0.0/8')).toEqual([]);
    expect(below('ether1')).toEqual([]);
    expect(below('10.2.0.0/24', { target: 'ether1' })).toEqual([]);
  });

  it('and marks of tree queues with children take nothing', () => {
    const tree = [
      { name: 'up', parent: 'ether1', 'packet-mark': 'voice' },
      { name: 'voip', parent: 'up', 'packet-mark': 'voice' },
    ];
    expect(about('mark-without-effect', lint([], tree))).toEqual(['up mark-without-effect packet-mark']);
  });

  const both = (...queues: Written[]) => about('both-match', lint(queues)).map((text) => text.split(' ')[0]);

  it('that are taken in part are reported', () => {
    expect(both(queue('a'), { name: 'b', target: '10.0.0.97/32,10.0.0.5/32' })).toEqual(['b']);
    expect(both(queue('a'), { name: 'rest', target: '10.0.0.0/8' })).toEqual([]);
  });

  it('of subscribers may meet in a packet, which is not spoken of', () => {
    expect(both(queue('a'), queue('b'), queue('c'))).toEqual([]);
    expect(both({ name: 'a', target: '10.1.0.0/29,2001:db8:1::/56' }, { name: 'b', target: '10.1.0.8/29' })).toEqual(
      [],
    );
  });

  it('that are whole networks of the router meet in what goes between them: reported once', () => {
    const lans = [
      { address: '10.1.0.1/24', interface: 'ether1' },
      { address: '10.2.0.1/24', interface: 'ether2' },
      { address: '10.3.0.1/24', interface: 'ether2', disabled: 'true' },
    ];
    const lans6 = [
      { address: '2001:db8:1::1/64', interface: 'ether1' },
      { address: '2001:db8:2::1/64', interface: 'ether2' },
    ];
    const reported = (...queues: Written[]) => {
      const menus = {
        '/interface/ethernet': ports(2),
        '/ip/address': lans,
        '/ipv6/address': lans6,
        '/queue/simple': queues,
      };
      return runToEnd(lintSteps(snapshotOf(menus), new Map())).map(({ name, message }) => `${name}: ${message}`);
    };
    const lan = (number: number, more: Written = {}) => ({
      name: `lan${number}`,
      target: `10.${number}.0.0/24`,
      ...more,
    });
    expect(reported(lan(1), queue('a'), lan(2), lan(3))).toEqual([
      'lan1: traffic between its target and that of lan2 fits both; the earlier queue takes it',
    ]);
    expect(reported(lan(1), { name: 'some', target: '10.2.0.0/25' })).toEqual([]);
    expect(reported(lan(1), { name: 'rest', target: '10.0.0.0/8' })).toEqual([]);
    expect(reported(lan(1), lan(2, { dst: '1.1.1.1/32' }))).toEqual([]);
    const lan6 = (number: number) => ({ name: `lan6-${number}`, target: `2001:db8:${number}::/64` });
    expect(reported(lan6(1), lan(1), lan6(2))).toEqual([
      'lan6-1: traffic between its target and that of lan6-2 fits both; the earlier queue takes it',
    ]);
  });

  it('that are an interface are met by the packets of queues below', () => {
    const wan = { name: 'wan', target: 'ether1' };
    expect(both(wan, queue('a'))).toEqual(['wan']);
    expect(both(queue('a'), queue('b'), wan)).toEqual([]);
    expect(both(queue('a'), queue('b', { dst: 'ether1' }))).toEqual([]);
  });

  it('of 25,000 queues are looked at', () => {
    const many = Array.from({ length: 25_000 }, (_, index) => ({
      name: `q${index}`,
      target: `10.${index >> 8}.${index & 255}.1/32`,
      'max-limit': '1/1',
    }));
    expect(lint([...many, { name: 'last', target: '10.1.2.1/32' }])).toEqual(['last shadowed target']);
  });
});
