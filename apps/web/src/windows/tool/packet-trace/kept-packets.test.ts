import type { PacketTrace } from '@tollway/protocol/live/trace';
import { expect, test } from 'vitest';
import { breaksText, keep, lengthText, MAX_PACKETS, outcomeHelp, outcomeText, pathText } from './kept-packets.ts';
import { argumentsOfConnection, argumentsOfLogLine, unknownOf } from './packet-arguments.ts';

const packet = (number: number): PacketTrace => ({
  number,
  timeMs: 0,
  in: 'ether2',
  out: '',
  protocol: 'tcp',
  src: '10.0.0.1:1',
  dst: '10.0.0.2:2',
  length: 60,
  fast: false,
  slowReason: 'new-connection',
  outcome: 'dropped',
  dropReason: 'filter-drop',
  steps: [],
});

test('a connection is traced by a packet of its first direction, as its state is now', () => {
  const row = {
    '.id': '*1',
    protocol: 'tcp',
    'src-address': '192.168.88.10:40000',
    'dst-address': '1.1.1.1:443',
    'src-port': '40000',
    'dst-port': '443',
  };
  const args = {
    protocol: 'tcp',
    'src-address': '192.168.88.10',
    'src-port': '40000',
    'dst-address': '1.1.1.1',
    'dst-port': '443',
  };
  expect(argumentsOfConnection({ ...row, 'tcp-state': 'syn-sent' })).toEqual(args);
  expect(argumentsOfConnection({ ...row, 'tcp-state': 'established' })).toEqual({ ...args, 'tcp-flags': 'ack' });
});

test('a connection of IPv6 is traced by its addresses without brackets and ports', () => {
  const row = { '.id': '*1', protocol: 'udp', 'src-port': '40000', 'dst-port': '53' };
  const ends = { 'src-address': '[2001:db8::1]:40000', 'dst-address': '[2001:db8::53]:53' };
  const args = { protocol: 'udp', 'src-port': '40000', 'dst-port': '53' };
  const bare = { 'src-address': '2001:db8::1', 'dst-address': '2001:db8::53' };
  expect(argumentsOfConnection({ ...row, ...ends })).toEqual({ ...args, ...bare });
  const ping = { '.id': '*1', protocol: 'icmpv6', 'icmp-type': '128', 'icmp-code': '0', 'icmp-id': '7', ...bare };
  expect(argumentsOfConnection(ping)).toEqual({
    protocol: 'icmpv6',
    'src-port': '7',
    'icmp-options': '128:0',
    ...bare,
  });
});

test('a ping is traced by its identifier, which a line without one does not tell', () => {
  const args = argumentsOfConnection({
    '.id': '*1',
    protocol: 'icmp',
    'src-address': '192.168.88.10',
    'dst-address': '1.1.1.1',
    'icmp-type': '8',
    'icmp-code': '0',
    'icmp-id': '4711',
  });
  expect(args).toEqual({
    protocol: 'icmp',
    'src-address': '192.168.88.10',
    'dst-address': '1.1.1.1',
    'src-port': '4711',
    'icmp-options': '8:0',
  });
  expect(unknownOf(args)).toBeUndefined();
  const line = (id: string) =>
    argumentsOfLogLine({
      '.id': '*1',
      message: `forward: in:ether1 out:ether2, connection-state:established proto ICMP (type 0, code 0), ${id}1.1.1.1->192.168.88.10, len 84`,
    }) ?? {};
  expect(line('id 4711, ')).toMatchObject({ 'src-port': '4711', 'icmp-options': '0:0' });
  expect(unknownOf(line('id 4711, '))).toBeUndefined();
  expect(unknownOf(line(''))).toMatchObject({
    property: 'src-port',
    detail: expect.stringMatching(/^ICMP identifier not known/),
  });
  const unreachable = 'input: in:ether1 out:(unknown 0), proto ICMP (type 3, code 1), 1.1.1.1->203.0.113.2, len 56';
  expect(unknownOf(argumentsOfLogLine({ '.id': '*1', message: unreachable }) ?? {})).toMatchObject({
    property: 'packet',
  });
  expect(unknownOf({ protocol: 'tcp', 'src-address': '10.0.0.1', 'dst-address': '10.0.0.2' })).toBeUndefined();
});

test('a log line tells of a packet, or of none', () => {
  const message = 'forward: in:ether2 out:ether1, connection-state:new proto UDP, 10.0.0.1:5->10.0.0.2:53, len 60';
  expect(argumentsOfLogLine({ '.id': '*1', message })).toMatchObject({ protocol: 'udp', 'in-interface': 'ether2' });
  expect(argumentsOfLogLine({ '.id': '*1', message: 'user admin logged in from 127.0.0.1 via web' })).toBeUndefined();
});

test('packets are kept once, the newest of them', () => {
  const news = (...numbers: number[]) => ({ packets: numbers.map(packet), done: false, lost: 0, breaks: 0 });
  const one = keep([], 1, news(1, 2));
  expect(keep(one, 1, news(2, 3)).map(({ key }) => key)).toEqual(['1.0.1', '1.0.2', '1.0.3']);
  expect(keep(one, 1, news())).toBe(one);
  const many = keep(one, 2, news(...Array.from({ length: MAX_PACKETS }, (_, index) => index + 1)));
  expect(many).toHaveLength(MAX_PACKETS);
  expect(many[0]?.key).toBe('2.0.1');
});

test('packets stand in the order of their arrival, whenever they are reported', () => {
  const at = (number: number, timeMs: number): PacketTrace => ({ ...packet(number), timeMs });
  const news = (...packets: PacketTrace[]) => ({ packets, done: false, lost: 0, breaks: 0 });
  const kept = keep(keep([], 1, news(at(1, 10), at(2, 30))), 1, news(at(3, 20), at(4, 30)));
  expect(kept.map(({ number }) => number)).toEqual([1, 3, 2, 4]);
});

test('a packet that is held says what that means', () => {
  expect(outcomeHelp({ ...packet(1), outcome: 'held' })).toMatch(/still waited in a queue/);
  expect(outcomeHelp(packet(1))).toBeUndefined();
});

test('packets from before a break stay when the numbers begin anew', () => {
  const news = (breaks: number, ...numbers: number[]) => ({
    packets: numbers.map(packet),
    done: false,
    lost: 0,
    breaks,
  });
  const kept = keep(keep([], 1, news(0, 1, 2)), 1, news(1, 1, 2, 3));
  expect(kept.map(({ number }) => number)).toEqual([1, 2, 1, 2, 3]);
  expect(new Set(kept.map(({ key }) => key)).size).toBe(5);
  expect(breaksText(0)).toBe('');
  expect(breaksText(1)).toMatch(/broke off once/);
  expect(breaksText(2)).toMatch(/broke off 2 times/);
});

test('what became of a packet, and its way, in args', () => {
  expect(outcomeText(packet(1))).toBe('dropped: filter-drop');
  expect(outcomeText({ ...packet(1), outcome: 'forwarded', dropReason: '' })).toBe('forwarded');
  expect(pathText(packet(1))).toBe('slow: new-connection');
  expect(pathText({ ...packet(1), fast: true })).toBe('fast');
  expect(lengthText(packet(1))).toBe('60');
  expect(lengthText({ ...packet(1), length: 1500, segments: 43 })).toBe('1500 × 43');
});
