import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Host } from './netns.ts';
import { dispose, newRouter, type Router, SERVER } from './router.ts';
import { eventually } from './wait.ts';

/** Tests of the trace and the dry run with real packets; and of the slow reasons. */

const TRACE = '/tool/packet-trace';
const FILTER = '/ip/firewall/filter';
/** An address of lan that nothing else of the lab uses. */
const CLIENT = '192.168.88.40';

type Traced = Readonly<Record<string, string>>;

let router: Router;
let lan: Host;

beforeAll(async () => {
  router = await newRouter().up();
  lan = router.host('lan');
  const device = lan.run('ip', '-o', 'route', 'get', SERVER).stdout.match(/ dev (\S+)/)?.[1] ?? '';
  lan.run('ip', 'address', 'add', `${CLIENT}/24`, 'dev', device);
});
afterAll(() => dispose(router));

const rows = async (command: string, args: Readonly<Record<string, string>>): Promise<Traced[]> =>
  (await router.rest.command(command, args)) as Traced[];

const ping = (count: number) => {
  lan.run('ping', '-n', '-i', '0.1', '-W', '1', '-c', String(count), '-I', CLIENT, SERVER);
};

/** Traces while packets of the client are sent. */
async function traced(args: Readonly<Record<string, string>>): Promise<Traced[]> {
  const answer = rows(TRACE, { 'src-address': CLIENT, duration: '8s', ...args });
  // The trace begins when the data plane has it, which the answer tells only when it is over.
  await new Promise((resolve) => setTimeout(resolve, 2000));
  ping(8);
  return answer;
}

test('a live trace tells both directions of a translated flow, from the stages and from the flow cache', async () => {
  const packets = await traced({ packets: '12', protocol: 'icmp' });
  expect(packets.length).toBe(12);
  const [first] = packets;
  expect(first).toMatchObject({ 'src-address': CLIENT, 'dst-address': SERVER, outcome: 'forwarded', path: 'slow' });
  expect(first?.['slow-path-reason']).toBe('new-connection');
  expect(first?.steps).toContain('track: new, in original direction');
  expect(first?.steps).toMatch(/src_nat: becomes [\d.]+:\d+ \[/);
  const answers = packets.filter((packet) => packet['src-address'] === SERVER);
  expect(answers.length).toBeGreaterThanOrEqual(4);
  expect(answers.at(-1)).toMatchObject({ path: 'fast', outcome: 'forwarded' });
  expect(answers.at(-1)?.steps).toContain(`destination becomes ${CLIENT}`);
});

test('a dropped packet names its rule, in a dry run before it comes and in the trace when it does', async () => {
  const id = await router.rest.add(FILTER, {
    chain: 'forward',
    action: 'drop',
    protocol: 'icmp',
    'src-address': CLIENT,
    'place-before': (await router.rest.list(FILTER)).find((row) => row.dynamic !== 'true')?.['.id'] ?? '',
  });
  try {
    const [dry] = await rows(`${TRACE}/dry-run`, { packet: `icmp ${CLIENT} -> ${SERVER}` });
    expect(dry).toMatchObject({ outcome: 'dropped', 'drop-reason': 'filter-drop' });
    expect(dry?.rules?.split(',')).toContain(id);
    const counted = async () => Number((await router.rest.get(FILTER, id)).packets);
    expect(await counted()).toBe(0);
    const packets = await traced({ packets: '3', dropped: 'yes' });
    expect(packets.length).toBe(3);
    for (const packet of packets) {
      expect(packet).toMatchObject({ outcome: 'dropped', 'drop-reason': 'filter-drop' });
      expect(packet['out-interface'] ?? '').toBe('');
      expect(packet.rules?.split(',')).toContain(id);
    }
    await eventually(async () => (await counted()) === 8, 5000);
  } finally {
    await router.rest.remove(FILTER, id);
  }
});

test('reasons of the slow path count, and say so of a connection', async () => {
  await router.rest.request('PATCH', '/rest/ip/settings', { 'allow-fast-path': 'no' });
  try {
    const menu = '/ip/settings/slow-path';
    const off = async () => {
      const found = (await router.rest.list(menu)).find((row) => row.reason === 'fast-path-off');
      return Number(found?.packets);
    };
    const before = await off();
    ping(3);
    await eventually(async () => (await off()) >= before + 6, 5000);
    const connections = await router.rest.list('/ip/firewall/connection');
    const own = connections.filter((row) => row['src-address']?.startsWith(CLIENT));
    expect(own.map((row) => row['slow-path-reason'])).toContain('fast-path-off');
  } finally {
    await router.rest.request('PATCH', '/rest/ip/settings', { 'allow-fast-path': 'yes' });
  }
});
