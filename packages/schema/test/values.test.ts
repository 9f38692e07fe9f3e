import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Kind } from '../src/kind.js';
import { durationMs, durationText, MAX_DURATION_MS } from '../src/props/duration.js';
import { parseIcmpOptions } from '../src/props/icmp-options.js';
import { ipv4, ipv4Text } from '../src/props/ip.js';
import { ipv4Range } from '../src/props/ip-range.js';
import { parseLimit } from '../src/props/limit.js';
import { parseNexthop } from '../src/props/nexthop.js';
import { parseNth } from '../src/props/nth.js';
import { parseVolumeRange } from '../src/props/volume-range.js';
import { parseWeekdayTimes, WEEKDAYS } from '../src/props/weekday-times.js';
import { kinds } from './kinds.js';

function kind(name: string): Kind {
  const found = kinds[name];
  if (!found) throw new Error(`no kind ${name}`);
  return found;
}

function canonical(name: string, text: string): string {
  const parsed = kind(name).parse(text);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value;
}

describe('canonical form', () => {
  it.each([
    ['bool', 'yes', 'true'],
    ['bool', 'no', 'false'],
    ['present', '', 'true'],
    ['yesNoEnum', 'false', 'no'],
    ['int', '007', '7'],
    ['int', '-0', '0'],
    ['ip', '192.168.88.1', '192.168.88.1'],
    ['ipPrefix', '10.0.0.0/8', '10.0.0.0/8'],
    ['ipPrefix', '10.1.2.3', '10.1.2.3/32'],
    ['ipPrefix', '0.0.0.0/0', '0.0.0.0/0'],
    ['ipIfacePrefix', '192.168.88.1/24', '192.168.88.1/24'],
    ['ipIfacePrefix', '192.168.88.1', '192.168.88.1/32'],
    ['ipRange', '10.0.0.7/24', '10.0.0.0/24'],
    ['ipRange', '10.0.0.7/32', '10.0.0.7'],
    ['ipRange', '10.0.0.0-10.0.0.255', '10.0.0.0-10.0.0.255'],
    ['ipRange', '10.0.0.9-10.0.0.9', '10.0.0.9'],
    ['ipRangeExact', '10.0.0.0-10.0.0.255', '10.0.0.0/24'],
    ['ipRangeExact', '10.0.0.1-10.0.0.2', '10.0.0.1-10.0.0.2'],
    ['notRange', '!10.0.0.1/8', '!10.0.0.0/8'],
    ['ipProtocol', '6', 'tcp'],
    ['ipProtocol', 'UDP', 'udp'],
    ['ipProtocol', '253', '253'],
    ['notProtocol', '!17', '!udp'],
    ['portList', '80, 443,1000-2000,080', '80,443,1000-2000'],
    ['portList', '53-53', '53'],
    ['intRange', '1000-1000', '1000'],
    ['ipv6Address', '2001:DB8:0::1', '2001:db8::1'],
    ['ipv6Network', '2001:DB8::/32', '2001:db8::/32'],
    ['ipv6Network', '2001:db8::1', '2001:db8::1/128'],
    ['ipv6Network', '::ffff:0:0/96', '::ffff:0.0.0.0/96'],
    ['ipv6InterfacePrefix', '2001:DB8::1/64', '2001:db8::1/64'],
    ['ipv6Port', '[2001:DB8::0:1]:0443', '[2001:db8::1]:443'],
    ['prefixAny', '2001:DB8::1', '2001:db8::1/128'],
    ['nexthop6', 'FE80::1%ether1', 'fe80::1%ether1'],
    ['nexthop6', 'ether1', 'ether1'],
    ['ipv6AddressRange', '2001:DB8::7/32', '2001:db8::/32'],
    ['ipv6AddressRange', '::1-::1', '::1'],
    ['ipv6RangeExact', '2001:db8::-2001:db8::ffff', '2001:db8::/112'],
    ['ipv6RangeExact', '2001:db8::1-2001:db8::2', '2001:db8::1-2001:db8::2'],
    ['ipv6RangeExact', '2001:db8::6-2001:db8::9', '2001:db8::6-2001:db8::9'],
    ['queueTarget', '10.1.2.3/8', '10.0.0.0/8'],
    ['queueTarget', '10.1.2.3', '10.1.2.3/32'],
    ['queueTarget', '2001:DB8::1:0:0:7/64', '2001:db8::/64'],
    ['queueTarget', '2001:db8:0:0:1:0:0:7', '2001:db8::1:0:0:7/128'],
    ['queueTarget', '0:0:0:0:0:0:0:0/0', '::/0'],
    ['queueTarget', '64:ff9b::192.0.2.1', '64:ff9b::c000:201/128'],
    ['ipAny', '::FFFF:c000:201', '::ffff:192.0.2.1'],
    ['ipAny', '1:2:3:4:5:6:255.255.0.1', '1:2:3:4:5:6:ffff:1'],
    ['queueTarget', 'ether1', 'ether1'],
    ['queueTargetList', '10.0.0.1, ether1,10.0.0.1/32,::1', '10.0.0.1/32,ether1,::1/128'],
    ['decimal', '0.100', '0.1'],
    ['decimal', '10', '10'],
    ['decimal', '0', '0'],
    ['kibibytes', '50', '50'],
    ['kibibytes', '50KiB', '50'],
    ['kibibytes', '2 MiB', '2048'],
    ['fineDuration', '5ms', '5ms'],
    ['fineDuration', '5ms250us', '5ms250us'],
    ['fineDuration', '1500us', '1ms500us'],
    ['fineDuration', '100', '1m40s'],
    ['nameList', 'a, no-mark,a', 'a,no-mark'],
    ['nameList', '', ''],
    ['spelledSet', 'raw,convervative', 'conservative,raw'],
    ['spelledSet', '', ''],
    ['limit', '10,5', '10,5:packet'],
    ['limit', '10/1s,5:packet', '10,5:packet'],
    ['limit', '50/00:01:00,2', '50/1m,2:packet'],
    ['limit', '1M,2M:bit', '1000000,2000000:bit'],
    ['notLimit', '!1/1d,1', '!1/1d,1:packet'],
    ['nth', '03, 1', '3,1'],
    ['volumeRange', '500000-0', '500000-0'],
    ['volumeRange', '1KiB - 2MiB', '1024-2097152'],
    ['weekdayTimes', '8h-17h,tue,mon', '8h-17h,mon,tue'],
    ['weekdayTimes', '00:00:00-1d', '0s-1d,sun,mon,tue,wed,thu,fri,sat'],
    ['weekdayTimes', '22:30:00-6h,fri,fri', '22h30m-6h,fri'],
    ['mac', 'aa-bb-cc-dd-ee-ff', 'AA:BB:CC:DD:EE:FF'],
    ['duration', '90', '1m30s'],
    ['duration', '1d00:04:02', '1d4m2s'],
    ['duration', '00:00:30', '30s'],
    ['duration', '500ms', '500ms'],
    ['duration', '14d', '2w'],
    ['duration', '0', '0s'],
    ['duration', 'auto', 'auto'],
    ['rate', '10M', '10000000'],
    ['configuredRate', '1T', '1000000000000'],
    ['ratePair', '10M/20M', '10000000/20000000'],
    ['ratePair', ' 5k ', '5000/5000'],
    ['nameInPair', 'long queue', 'long queue'],
    ['rate', '1.5G', '1500000000'],
    ['rate', '64kbps', '64000'],
    ['ratePair', '20M/5M', '20000000/5000000'],
    ['ratePair', '10M', '10000000/10000000'],
    ['bytes', '1MiB', '1048576'],
    ['percent', '12.34', '12.3'],
    ['set', 'related,new,new', 'new,related'],
    ['notSet', '!invalid,new', '!new,invalid'],
    ['triStateSet', '!ack,syn', 'syn,!ack'],
    ['icmpOptions', '8', '8:0-255'],
    ['icmpOptions', '3:4', '3:4'],
    ['icmpOptions', '3:0-4', '3:0-4'],
    ['nexthop', '10.0.0.1%ether1', '10.0.0.1%ether1'],
    ['nexthop', 'ether1', 'ether1'],
    ['nexthop', '10.0.0.1, 10.0.0.1,ether2', '10.0.0.1,10.0.0.1,ether2'],
    ['ipv6Port', '[2001:DB8::0:1]:0443', '[2001:db8::1]:443'],
    ['prefixAny', '2001:DB8::1', '2001:db8::1/128'],
    ['nexthop6', 'FE80::0:1%ether1,2001:db8::1', 'fe80::1%ether1,2001:db8::1'],
    ['referenceList', 'LAN, WAN,LAN', 'LAN,WAN'],
    ['datetime', '2026-03-01T12:00:00', '2026-03-01 12:00:00'],
  ])('%s: %j is %j', (name, text, value) => {
    expect(kind(name).parse(text)).toEqual({ ok: true, value });
  });
});

describe('text of fields', () => {
  it.each([
    ['rate', '20000000', '20M'],
    ['rate', '1500000', '1500k'],
    ['rate', '1000000000000000', '1000T'],
    ['rate', '1234', '1234'],
    ['rate', '0', '0'],
    ['ratePair', '20000000/512000', '20M/512k'],
  ])('%s: %j is edited as %j', (name, value, text) => {
    expect(kind(name).edit?.(value)).toBe(text);
    expect(kind(name).parse(text)).toEqual({ ok: true, value });
  });

  it('gives the value back for every rate', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn }), fc.integer({ min: 0, max: 19 }), (n, zeros) => {
        const value = String((n / 10n ** BigInt(zeros)) * 10n ** BigInt(zeros));
        expect(kind('rate').parse(kind('rate').edit?.(value) ?? '')).toEqual({ ok: true, value });
      }),
    );
  });
});

describe('refusals name the fault and what is accepted', () => {
  it.each([
    ['queueTarget', '10.0.0.300', '10.0.0.300 is not an IPv4 or IPv6 prefix or the name of an interface'],
    ['queueTarget', '2001:db8::1::2', '2001:db8::1::2 is not'],
    ['queueTarget', '2001:db8::/129', 'is not'],
    ['queueTarget', '1:2:3:4:5:6:7', 'is not'],
    ['ipAny', '1:2:3:4:5:6:7:192.0.2.1', 'is not'],
    ['ipAny', '::192.0.2.256', 'is not'],
    ['ipAny', '::192.0.2.1:1', 'is not'],
    ['ipAny', '::.', 'is not'],
    ['queueTargetList', '', 'an empty value is not a comma list'],
    ['decimal', '10.001', 'out of range (0..10)'],
    ['decimal', '0.0001', 'at most three decimals'],
    ['kibibytes', '0', 'from 1'],
    ['kibibytes', '5 bytes', 'KiB'],
    ['fineDuration', '5us250ms', 'is not a duration'],
    ['fineDuration', '2h', 'out of range'],
    ['nameList', 'a,!b', 'neither ! nor *'],
    ['nameList', 'a,', 'a name is missing after the comma; give a comma list of names'],
    ['queueTargetList', '10.0.0.1,,ether1', 'a prefix or the name of an interface is missing between two commas; give'],
    ['referenceList', 'LAN,', 'a name is missing after the comma; give names of interface lists'],
    ['bool', 'maybe', 'maybe is not yes or no'],
    ['int', '70000', '70000 is out of range (-5..255)'],
    ['int', '1e3', '1e3 is not an integer'],
    ['ip', '192.168.1', 'an IPv4 address'],
    ['ip', '192.168.01.1', 'an IPv4 address'],
    ['ip', '256.1.1.1', 'an IPv4 address'],
    ['ipPrefix', '10.1.2.3/8', '10.1.2.3/8 has host bits beyond its length; give 10.0.0.0/8'],
    ['ipPrefix', '1.2.3.4/0', 'give 0.0.0.0/0'],
    ['ipPrefix', '10.0.0.0/33', 'an IPv4 prefix a.b.c.d/n with n 0..32'],
    ['ipIfacePrefix', '10.0.0.0/', 'with prefix length'],
    ['ipv6Network', '2001:db8::1/64', '2001:db8::1/64 has host bits beyond its length; give 2001:db8::/64'],
    ['ipv6Network', '2001:db8::/129', 'an IPv6 prefix'],
    ['ipv6InterfacePrefix', '2001:db8::1', 'an IPv6 address with prefix length'],
    ['ipv6Port', '[2001:db8::1]:70000', 'an IPv6 address, or [address]:port'],
    ['prefixAny', '10.0.0.1/8', 'give 10.0.0.0/8'],
    ['nexthop6', '2001:db8:::1', 'an IPv6 address, an interface name or address%interface'],
    ['ipv6AddressRange', '::2-::1', 'an IPv6 address, a prefix'],
    ['hopLimitMatch', 'greater-than:255', 'equal, not-equal, less-than or greater-than'],
    ['nexthop6', 'fe80::1%', 'an IPv6 address, an interface name or address%interface'],
    ['ipRange', '10.0.0.9-10.0.0.1', 'a range'],
    ['ipProtocol', '256', 'a number 0..255'],
    ['ipProtocol', 'toString', 'a protocol name'],
    ['portList', '70000', '70000 is out of range (0..65535)'],
    ['portList', '80,', 'a port or range is missing after the comma; give a comma list of ports and ranges 0..65535'],
    ['portList', '80,443, ', 'a port or range is missing after the last comma; give'],
    ['portList', '80,,443', 'a port or range is missing between two commas; give'],
    ['portList', ',80', 'a port or range is missing before the comma; give'],
    ['portList', ',80,443', 'a port or range is missing before the first comma; give'],
    ['portList', '', 'an empty value is not a comma list of ports'],
    ['portList', '90-80', 'a comma list of ports'],
    ['intRange', '5-70000', 'out of range (0..65535)'],
    ['limit', '10', 'rate[/time],burst[:packet|bit]'],
    ['limit', '0,5', 'counts above 0'],
    ['limit', '10,5:bytes', 'rate[/time],burst[:packet|bit]'],
    ['limit', '10/2d,5', 'a time of 10ms..1d'],
    ['nth', '3,4', 'packet within 1..every'],
    ['nth', '0,0', 'packet within 1..every'],
    ['nth', '3', 'such as 2,1'],
    ['nth', '3,', 'the packet is missing after the comma; give every,packet'],
    ['nth', ',1', 'every is missing before the comma; give'],
    ['limit', '10,', 'the burst is missing after the comma; give rate[/time],burst'],
    ['limit', ',5', 'the rate is missing before the comma; give'],
    ['weekdayTimes', '8h-17h,', 'a day of the week is missing after the comma; give from-to'],
    ['weekdayTimes', ',mon', 'from-to is missing before the comma; give'],
    ['weekdayTimes', '8h-17h,mon,,tue', 'a day of the week is missing between two commas; give'],
    ['volumeRange', '5-4', '0 at the end has no upper bound'],
    ['volumeRange', '500', 'from-to in bytes'],
    ['weekdayTimes', '8h-17h,monday', 'such as 8h-17h,mon,tue'],
    ['weekdayTimes', '8h-25h', 'within 0s..1d'],
    ['weekdayTimes', 'mon', 'from-to'],
    ['mac', 'aa:bb', 'a MAC address'],
    ['duration', '1s1m', 'a duration such as'],
    ['duration', '50d', 'out of range (0s..7w17h2m47s295ms)'],
    ['rate', '1.5', 'bits per second'],
    ['configuredRate', '1000000000001', 'at most 1T'],
    ['ratePair', '1M/2M/3M', 'as upload/download or one for both'],
    ['ratePair', '1M/', 'download: an empty value is not a rate'],
    ['nameInPair', 'up/down', 'without commas and slashes'],
    ['enum', 'tarpit', 'one of accept, drop'],
    ['set', 'new,old', 'old is not in'],
    ['set', 'new,', 'a word is missing after the comma; give a comma list out of'],
    ['set', '', 'an empty value is not a comma list out of'],
    ['spelledSet', ',raw', 'a word is missing before the comma; give'],
    ['triStateSet', 'syn,,!ack', 'a word is missing between two commas; give'],
    ['triStateSet', 'syn,!syn', 'set and clear at once'],
    ['icmpOptions', '8:9-3', 'an ICMP type'],
    ['nexthop', '10.0.0.300', 'an IPv4 address, an interface name'],
    ['nexthop', '10.0.0.1%', 'an IPv4 address, an interface name'],
    ['nexthop', '10.0.0.1,', 'a next hop is missing after the comma'],
    ['nexthop', '10.0.0.1,10.0.0', '10.0.0 is not an IPv4 address'],
    ['nexthop', Array(65).fill('ether1').join(','), '65 next hops are too many; give at most 64'],
    ['nexthop6', 'fe80::g', 'an IPv6 address'],
    ['reference', '', 'an empty value is not the name of an interface, or all-ethernet'],
    ['referenceList', '!LAN', '!LAN is not names of interface lists, separated by commas'],
    ['ratePair', '-5M/0', 'upload: -5M is not a rate in bits per second'],
    ['ratePair', '5M/x', 'download: x is not a rate in bits per second'],
    [
      'ratePair',
      'x',
      'x is not a rate in bits per second, optionally with k, M or G, as upload/download or one for both',
    ],
    ['ratePair', '1/2/3', '1/2/3 is not a rate'],
    ['name', '*1', 'neither ! nor *'],
    ['name', ' LAN', 'a name of'],
    ['name', 'lan\u202ecba', 'lan\\u202ecba is not a name of'],
    ['name', '\u061clan\u2066x\u2069', '\\u061clan\\u2066x\\u2069 is not a name of'],
    ['name', 'lan\u202e', 'and without control characters and marks that turn the direction of writing'],
    ['nameInPair', 'lan\u0007', 'and without control characters and marks that turn the direction of writing'],
    ['interfaceName', '10.0.0.1', 'at least one letter'],
    ['interfaceName', 'all-ethernet', 'not starting with all-'],
    ['interfaceName', 'lo', 'none of all, global, aggregate, lo and tw with a number'],
    ['interfaceName', 'tw12', 'none of all, global, aggregate, lo and tw with a number'],
    ['secret', 'short', '5 characters'],
    ['datetime', '2026-02-30 00:00:00', 'a date and time'],
  ])('%s: %j', (name, text, words) => {
    const parsed = kind(name).parse(text);
    expect(parsed.ok ? '' : parsed.error).toContain(words);
  });

  it('keeps a password out of the message', () => {
    const parsed = kind('secret').parse('hunter2');
    expect(parsed.ok ? '' : parsed.error).not.toContain('hunter2');
  });

  it('cuts long texts and control characters', () => {
    const parsed = kind('ip').parse(`\u0007${'x'.repeat(10_000)}`);
    expect(parsed.ok ? '' : parsed.error).toMatch(/^\?x{39}\.\.\. is not/);
  });
});

describe('display', () => {
  it.each([
    ['rate', '7477044480', '7.4 Gbps'],
    ['rate', '999', '999 bps'],
    ['rate', '1000', '1.0 kbps'],
    ['rate', '999999', '999.9 kbps'],
    ['bytes', '0', '0 B'],
    ['bytes', '1023', '1023 B'],
    ['bytes', '1024', '1.0 KiB'],
    ['bytes', '251868000', '240.2 MiB'],
    ['counter', '319850', '319 850'],
    ['counter', '1234567', '1 234 567'],
    ['duration', '1d4m2s', '1d 00:04:02'],
    ['duration', '30s', '00:00:30'],
    ['duration', '500ms', '00:00:00.500'],
    ['duration', 'auto', 'auto'],
    ['duration', '1w1d', '8d 00:00:00'],
    ['ipProtocol', 'tcp', '6 (tcp)'],
    ['ipProtocol', '253', '253'],
    ['notProtocol', '!udp', '!17 (udp)'],
    ['percent', '12.3', '12.3%'],
    ['bool', 'true', 'yes'],
  ])('%s: %s is shown as %s', (name, value, text) => {
    expect(kind(name).display?.(value)).toBe(text);
  });
});

describe('order', () => {
  it.each([
    ['ip', '9.0.0.1', '10.0.0.1'],
    ['ipIfacePrefix', '10.0.0.1/8', '10.0.0.1/24'],
    ['ipPort', '10.0.0.1:80', '10.0.0.1:443'],
    ['counter', '9', '10'],
    ['counter', '9007199254740993', '9007199254740994'],
    ['duration', '59s', '1m'],
    ['rate', '999', '1000'],
    ['ipProtocol', 'icmp', 'tcp'],
    ['ipProtocol', 'tcp', 'udp'],
    ['notRange', '10.0.0.1', '!10.0.0.1'],
    ['portList', '80,443', '1000'],
    ['int', '9', '10'],
  ])('%s: %s comes before %s', (name, a, b) => {
    expect(kind(name).compare?.(a, b)).toBeLessThan(0);
    expect(kind(name).compare?.(b, a)).toBeGreaterThan(0);
  });
});

describe('numbers behind the texts', () => {
  it('an address is its 32 bits', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff_ffff }), (bits) => {
        expect(ipv4(ipv4Text(bits))).toBe(bits);
      }),
    );
  });

  it('a duration is its milliseconds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MAX_DURATION_MS }), (ms) => {
        expect(durationMs(durationText(ms))).toBe(ms);
      }),
    );
  });

  it('a limit, a group of packets, a volume and a time of the week are their numbers', () => {
    const counts = fc.integer({ min: 1, max: 1_000_000_000_000 });
    fc.assert(
      fc.property(
        counts,
        counts,
        fc.integer({ min: 10, max: 86_400_000 }),
        fc.boolean(),
        (rate, burst, perMs, bits) => {
          const unit = bits ? 'bit' : 'packet';
          const text = canonical('limit', `${rate}/${durationText(perMs)},${burst}:${unit}`);
          expect(parseLimit(text)).toEqual({ rate, perMs, burst, unit });
        },
      ),
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 0xffff_ffff }), fc.nat(), (every, n) => {
        const packet = 1 + (n % every);
        expect(parseNth(canonical('nth', `${every},${packet}`))).toEqual({ every, packet });
      }),
    );
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.maxSafeNat(), (a, b) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        expect(parseVolumeRange(canonical('volumeRange', `${from}-${to}`))).toEqual({ from, to });
        expect(parseVolumeRange(canonical('volumeRange', `${to}-0`))).toEqual({ from: to, to: 0 });
      }),
    );
    const moment = fc.integer({ min: 0, max: 86_400_000 });
    fc.assert(
      fc.property(moment, moment, fc.subarray([...WEEKDAYS], { minLength: 1 }), (fromMs, toMs, days) => {
        const text = `${durationText(fromMs)}-${durationText(toMs)},${[...days].reverse().join(',')}`;
        expect(parseWeekdayTimes(canonical('weekdayTimes', text))).toEqual({ fromMs, toMs, days });
      }),
    );
  });

  it('a prefix is the range of all addresses that share its bits', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff_ffff }), fc.integer({ min: 0, max: 32 }), (address, length) => {
        const range = ipv4Range(`${ipv4Text(address)}/${length}`);
        const size = 2 ** (32 - length);
        expect(range).toEqual({
          from: Math.floor(address / size) * size,
          to: Math.floor(address / size) * size + size - 1,
        });
      }),
    );
  });

  it('a range that is exactly a prefix is the same set as that prefix', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffff_ffff }), fc.nat(70_000), (from, more) => {
        const text = `${ipv4Text(from)}-${ipv4Text(Math.min(from + more, 0xffff_ffff))}`;
        const parsed = kind('ipRangeExact').parse(text);
        expect(parsed.ok && ipv4Range(parsed.value)).toEqual(ipv4Range(text));
      }),
    );
  });

  it('next hops and ICMP options are taken apart', () => {
    expect(parseNexthop('10.0.0.1%ether2', 'ip')).toEqual({ address: '10.0.0.1', interface: 'ether2' });
    expect(parseNexthop('ether2', 'ip')).toEqual({ interface: 'ether2' });
    expect(parseIcmpOptions('3:0-4')).toEqual({ type: 3, codeFrom: 0, codeTo: 4 });
  });
});
