import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { WebSocket } from 'ws';
import { type Background, type Host, mustRun } from './netns.ts';
import type { Rest, Row } from './rest.ts';
import { PASSWORD, projectRoot, type Router, SERVER } from './router.ts';
import { eventually } from './wait.ts';

export const QUEUE = '/queue/simple';

export interface UpDown {
  readonly upload: number;
  readonly download: number;
}

/** Both halves of a queue's figure. */
export function upDown(row: Row | undefined, property: string): UpDown {
  const [upload = Number.NaN, download = Number.NaN] = (row?.[property] ?? '').split('/').map(Number);
  return { upload, download };
}

/** Removes the queues that the lab has by default, so that a test has its own alone. */
export async function removeQueues(rest: Rest): Promise<void> {
  const ids = (await rest.list(QUEUE)).map((row) => row['.id']);
  if (ids.length > 0) await rest.command(`${QUEUE}/remove`, { '.id': ids.join(',') });
}

/** Adds queues in one request, as one revision, and gives their ids. */
export async function addQueues(rest: Rest, queues: readonly Readonly<Record<string, string>>[]): Promise<string[]> {
  const { status, body } = await rest.request('PUT', `/rest${QUEUE}`, queues);
  if (status > 299 || !Array.isArray(body)) throw new Error(`PUT ${QUEUE}: ${status} ${JSON.stringify(body)}`);
  return body.map((row) => String(row['.id']));
}

/** A flow between a client and the server; see udp-flows.mjs. */
export interface Flow {
  /** Address of the client. */
  readonly from: string;
  /** Port of the server. */
  readonly port: number;
  /** Rate from the client, IP bits per second. */
  readonly up: number;
  /** Rate to the client, IP bits per second. */
  readonly down: number;
  /** Length of a packet with its IP header. */
  readonly bytes: number;
  readonly seconds: number;
}

/**
 * Nice value before others on the machine. A bucket holds a tenth of a second: whoever does not get a core for longer, the router
 * or who sends to it, loses rate that no queue could give back.
 */
const PREFERRED = '-15';

/**
 * Lets the router's agent, with the threads that it has now, go before others on the machine. Where sessions share the
 * processor, niceness counts within a session only, and the session has a niceness of its own; sched(7), "The autogroup
 * feature". The supervisor gives the agent a session, in which nothing else runs.
 */
export function preferAgent(router: Router): void {
  const pid = router.pid('agent');
  mustRun('renice', '-n', PREFERRED, '-p', ...readdirSync(`/proc/${pid}/task`));
  const autogroup = `/proc/${pid}/autogroup`;
  if (existsSync(autogroup)) writeFileSync(autogroup, PREFERRED);
}

/**
 * A command line that goes before others on the machine, from its first instruction on. It gets a session of its own:
 * that of the tests may hold anything, a compiler for one, and all of it would go before the router.
 */
const preferred = (...argv: string[]): string[] => [
  ...['setsid', 'nice', '-n', PREFERRED, 'sh', '-c'],
  `if [ -e /proc/self/autogroup ]; then echo ${PREFERRED} > /proc/self/autogroup; fi; exec "$@"`,
  ...['sh', ...argv],
];

const UDP_FLOWS = path.join(projectRoot, 'tests/network/udp-flows.mjs');

/** Lets a host answer flows on `count` ports from `port` on. */
export async function serveFlows(server: Host, port: number, count: number): Promise<Background> {
  const serving = server.start(...preferred(process.execPath, UDP_FLOWS, 'serve', String(port), String(count)));
  await eventually(() => serving.stdout.includes('ready'), 90_000);
  return serving;
}

/** Starts flows of a client; returns when all of them are under way, and since when they are. */
export async function startFlows(
  client: Host,
  flows: readonly Flow[],
  to = SERVER,
): Promise<{ startedMs: number; sending: Background }> {
  const list = JSON.stringify(flows.map((flow) => ({ ...flow, to })));
  const sending = client.start(...preferred(process.execPath, UDP_FLOWS, 'send', list));
  const [, startedMs] = await eventually(() => /started (\d+)\n/.exec(sending.stdout) ?? undefined, 30_000, 5);
  return { startedMs: Number(startedMs), sending };
}

/** Gives a host's port another address of the same network. */
export function addAddress(host: Host, address: string): void {
  host.must('ip', 'address', 'replace', `${address}/24`, 'dev', 'eth0');
}

/** Share of the packets of connections from an address that took FastTrack. */
export async function fasttracked(rest: Rest, address: string): Promise<number> {
  const rows = await rest.list('/ip/firewall/connection');
  const sum = (...properties: string[]) =>
    rows
      .filter((row) => row['src-address']?.startsWith(`${address}:`))
      .reduce((total, row) => total + properties.reduce((packets, name) => packets + Number(row[name]), 0), 0);
  return sum('orig-fasttrack-packets', 'repl-fasttrack-packets') / sum('orig-packets', 'repl-packets');
}

/** Number of revisions that the configuration has had. */
export async function revisions(rest: Rest): Promise<number> {
  const { body } = await rest.request('GET', '/api/v1/revisions');
  const [newest] = Array.isArray(body) ? body : [];
  return Number(newest?.revision);
}

/** Packets that the router drops from now on, by reason, as its live traffic tells them once a second. */
export async function watchDrops(router: Router): Promise<{ end: () => ReadonlyMap<string, number> }> {
  const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`;
  const socket = new WebSocket(`${router.url.replace('http', 'ws')}/live`, { headers: { authorization } });
  await once(socket, 'open');
  const packets = new Map<string, number>();
  socket.on('message', (data) => {
    const { drops = {} } = JSON.parse(String(data));
    for (const [reason, perSecond] of Object.entries(drops)) {
      packets.set(reason, (packets.get(reason) ?? 0) + Number(perSecond));
    }
  });
  socket.send(JSON.stringify({ op: 'subscribe', id: 1, topic: 'traffic' }));
  return {
    end: () => {
      socket.close();
      return packets;
    },
  };
}
