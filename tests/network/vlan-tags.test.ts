import { afterAll, beforeAll, expect, test } from 'vitest';
import { addHost, type Host, link, removeHost } from './netns.ts';
import { exchange, frame, type Tag, tagText } from './raw-frame.ts';
import { echoRequest, ICMP, ipv4 } from './raw-packet.ts';
import { dispose, newRouter, type Router } from './router.ts';
import { eventually } from './wait.ts';

/** A station that sends frames with tags as it likes: each interface takes those of its own tags alone. */

const prefix = `tw${process.pid}t`;
const TEXT = 'tags of one interface';
const STATION = '02:00:00:00:00:77';

const customer = (id: number, priority = 0): Tag => ({ type: 0x8100, control: (priority << 13) | id });
const service = (id: number, priority = 0): Tag => ({ type: 0x88a8, control: (priority << 13) | id });

/** Interfaces by their tags, with the network of each: the port itself, and all that are above it. */
const INTERFACES: readonly { name: string; tags: readonly Tag[]; network: string }[] = [
  { name: 'native', tags: [], network: '10.98.1' },
  { name: 'customer', tags: [customer(10)], network: '10.98.2' },
  { name: 'service', tags: [service(10)], network: '10.98.3' },
  { name: 'inner', tags: [service(10), customer(20)], network: '10.98.4' },
  { name: 'double', tags: [customer(10), customer(20)], network: '10.98.5' },
];

let box: Host;
let station: Host;
let router: Router;
let mac: string;

beforeAll(async () => {
  box = addHost(`${prefix}-box`, true);
  station = addHost(`${prefix}-station`, true);
  link(box, 'eth1', station, 'eth0');
  router = await newRouter({ inside: box, options: ['--ports', 'eth1', '--no-defaults'] }).up();
  const { rest } = router;
  await rest.add('/interface/vlan', { name: 'customer', 'vlan-id': '10', interface: 'ether1' });
  await rest.add('/interface/vlan', {
    name: 'service',
    'vlan-id': '10',
    interface: 'ether1',
    'use-service-tag': 'yes',
  });
  await rest.add('/interface/vlan', { name: 'inner', 'vlan-id': '20', interface: 'service' });
  await rest.add('/interface/vlan', { name: 'double', 'vlan-id': '20', interface: 'customer' });
  for (const { name, network } of INTERFACES) {
    const of = name === 'native' ? 'ether1' : name;
    await rest.add('/ip/address', { address: `${network}.1/24`, interface: of });
    await rest.add('/ip/arp', { address: `${network}.2`, 'mac-address': STATION, interface: of });
  }
  await eventually(async () => (await rest.list('/interface')).every(({ running }) => running === 'true'));
  mac = (await rest.list('/interface')).find(({ name }) => name === 'ether1')?.['mac-address'] ?? '';
});
afterAll(async () => {
  await dispose(router);
  for (const host of [box, station]) removeHost(host);
});

/** What comes back as the station of a network sends an echo request to the router with these tags. */
const answers = (network: string, tagged: readonly (readonly Tag[])[]): string[] => {
  const packet = ipv4({ src: `${network}.2`, dst: `${network}.1`, protocol: ICMP }, echoRequest(7, 1, TEXT));
  return exchange(
    station,
    'eth0',
    STATION,
    TEXT,
    tagged.map((tags) => frame(mac, STATION, tags, packet)),
  );
};

test('an interface answers frames of its own tags, with these', () => {
  for (const { name, tags, network } of INTERFACES) {
    expect(answers(network, [tags]), name).toEqual([tagText(tags) || '-']);
  }
});

test('the priority of a tag is no part of its VLAN, and a tag of priority alone is none', () => {
  expect(answers('10.98.2', [[customer(10, 5)]])).toEqual(['8100:000a']);
  expect(answers('10.98.1', [[customer(0, 3)], [service(0, 6)]])).toEqual(['-', '-']);
  expect(answers('10.98.4', [[service(10, 7), customer(20, 1)]])).toEqual(['88a8:000a/8100:0014']);
  // As in Linux, what is behind a tag of priority alone is what would be there without it.
  const before = [
    [customer(0, 3), customer(10)],
    [service(0, 3), customer(10)],
  ];
  expect(answers('10.98.2', before)).toEqual(['8100:000a', '8100:000a']);
  expect(answers('10.98.4', [[customer(0), service(10), customer(20)]])).toEqual(['88a8:000a/8100:0014']);
});

test('no frame with other tags reaches an interface', async () => {
  const lists: readonly (readonly Tag[])[] = [
    [],
    [customer(10)],
    [service(10)],
    [service(10), customer(20)],
    [customer(10), customer(20)],
    [customer(11)],
    [customer(20)],
    [service(20)],
    [customer(20), service(10)],
    [customer(10), service(20)],
    [service(10), service(20)],
    [customer(10), customer(10)],
    [service(10), customer(21)],
    [customer(20), customer(10)],
    [customer(10), customer(20), customer(30)],
    [service(10), customer(20), customer(10)],
    [customer(4095)],
    [customer(4095), customer(10)],
  ];
  for (const { name, tags, network } of INTERFACES) {
    const wrong = lists.filter((list) => tagText(list) !== tagText(tags));
    // A frame of another interface is one of that interface, whose network it is not: the router has the address all the
    // same, and answers by the way to the sender, which is the interface of the network.
    const strangers = wrong.filter((list) => INTERFACES.every((each) => tagText(each.tags) !== tagText(list)));
    const seen = answers(network, strangers);
    expect(Object.fromEntries(strangers.map((list, at) => [tagText(list), seen[at]])), name).toEqual(
      Object.fromEntries(strangers.map((list) => [tagText(list), 'nothing'])),
    );
  }
  // With the reverse path checked, a frame of another interface's tags is known by the network that it does not belong to.
  await router.rest.command('/ip/settings/set', { 'rp-filter': 'strict' });
  for (const { name, tags, network } of INTERFACES) {
    const others = INTERFACES.filter((each) => tagText(each.tags) !== tagText(tags)).map((each) => each.tags);
    expect(new Set(answers(network, others)), name).toEqual(new Set(['nothing']));
    expect(answers(network, [tags]), name).toEqual([tagText(tags) || '-']);
  }
});
