import { describe, expect, it } from 'vitest';
import type { Kind } from '../src/kind.js';
import { addressSpan, ipPort } from '../src/props/ip.js';
import { nexthopList } from '../src/props/nexthop.js';
import { withNot } from '../src/props/not.js';
import { upDown } from '../src/props/pair.js';
import { queueTarget, queueTargetList } from '../src/props/queue-target.js';
import { reference, referenceList } from '../src/props/reference.js';
import { name, nameList } from '../src/props/text.js';

const mark = { ref: [{ menu: '/ip/firewall/mangle', prop: 'new-packet-mark' }] };

describe('names in values', () => {
  it.each<[string, Kind, string, readonly string[], string]>([
    ['a reference', reference('/interface', 'name'), 'wan', ['wan'], 'up'],
    ['one that is inverted', withNot(reference('/interface', 'name')), '!wan', ['wan'], '!up'],
    ['a list of references', referenceList('/interface/list', 'name'), 'lan,wan', ['lan', 'wan'], 'lan,up'],
    ['no list', referenceList('/interface/list', 'name'), '', [], ''],
    ['a pair', upDown(reference('/queue/type', 'name')), 'wan/lan', ['wan', 'lan'], 'up/lan'],
    ['a next hop', nexthopList('ip'), 'wan', ['wan'], 'up'],
    ['a next hop by an address', nexthopList('ip'), '10.0.0.1', [], '10.0.0.1'],
    ['a next hop by both', nexthopList('ip'), '10.0.0.1%wan', ['wan'], '10.0.0.1%up'],
    ['next hops', nexthopList('ip'), '10.0.0.1%lan,wan,10.0.0.2', ['lan', 'wan'], '10.0.0.1%lan,up,10.0.0.2'],
    ['a next hop of IPv6', nexthopList('ipv6'), 'fe80::1%wan', ['wan'], 'fe80::1%up'],
    ['a target', queueTarget, 'wan', ['wan'], 'up'],
    ['targets', queueTargetList, '10.0.0.0/8,wan', ['wan'], '10.0.0.0/8,up'],
    ['a mark', name(mark), 'wan', ['wan'], 'up'],
    ['marks', nameList(mark), 'voice,wan', ['voice', 'wan'], 'voice,up'],
  ])('of %s are found and renamed', (_, kind, value, names, renamed) => {
    expect(kind.parse(value)).toEqual({ ok: true, value });
    expect(kind.references?.(value)).toEqual(names);
    expect(kind.rename?.(value, 'wan', 'up')).toBe(renamed);
    expect(kind.rename?.(value, 'other', 'up')).toBe(value);
  });

  it('are those of one part where parts name items of different menus', () => {
    const kind = nexthopList('ip');
    const value = '10.0.0.1%wan@wan,10.0.0.2@wan,wan,10.0.0.3@main';
    expect(kind.references?.(value)).toEqual(['wan', 'main']);
    expect(kind.references?.(value, 'interface')).toEqual(['wan']);
    expect(kind.references?.(value, 'table')).toEqual(['wan', 'main']);
    expect(kind.rename?.(value, 'wan', 'up', 'interface')).toBe('10.0.0.1%up@wan,10.0.0.2@wan,up,10.0.0.3@main');
    expect(kind.rename?.(value, 'wan', 'up', 'table')).toBe('10.0.0.1%wan@up,10.0.0.2@up,wan,10.0.0.3@main');
    expect(kind.ref?.map(({ menu, part }) => [menu, part])).toEqual([
      ['/interface', 'interface'],
      ['/routing/table', 'table'],
      ['/ip/vrf', 'table'],
    ]);
  });

  it('are replaced by placeholders and those by names, as names are exchanged', () => {
    for (const kind of [nexthopList('ip'), nexthopList('ipv6'), referenceList('/interface', 'name'), queueTargetList]) {
      const away = kind.rename?.('lan,wan', 'wan', '\x001') ?? '';
      expect(kind.rename?.(away, '\x001', 'up')).toBe('lan,up');
    }
  });

  it('need not be those of anything where a rule makes what it names', () => {
    expect(name(mark).implicit).toBe(true);
    expect(reference('/interface', 'name').implicit).toBeUndefined();
  });
});

describe('addresses of values', () => {
  it.each([
    ['10.0.0.1', 0x0a00_0001n, 0x0a00_0001n],
    ['10.0.0.1:80', 0x0a00_0001n, 0x0a00_0001n],
    ['10.0.0.1%wan', 0x0a00_0001n, 0x0a00_0001n],
    ['10.0.0.7/30', 0x0a00_0004n, 0x0a00_0007n],
    ['10.0.0.1-10.0.0.9', 0x0a00_0001n, 0x0a00_0009n],
  ])('%s', (text, first, last) => {
    expect(addressSpan(text)).toEqual({ first, last });
  });

  it('order as their keys do', () => {
    const texts = ['9.0.0.1', '10.0.0.1', '10.0.0.1:80', '10.0.0.1:443', '10.0.0.2'];
    expect([...texts].sort(ipPort.compare)).toEqual(texts);
    const keys = texts.map((text) => ipPort.sortKey?.(text) ?? Number.NaN);
    expect([...keys].sort((a, b) => a - b)).toEqual(keys);
  });
});
