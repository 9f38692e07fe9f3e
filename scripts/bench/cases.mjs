// @ts-check
/** The cases, and their selection on the command line. */

/**
 * `kind`: on memory frames, over veth against the kernel, or in the browser. Wire cases have a `load` (our packet
 * generator's packets of known flows or of new ones, iperf3 or ping) and a `scenario`, the configuration of both routers as
 * `tollway-bench` names it. `offered`: bits/s that iperf3 sends, as it takes them; without it as fast as it goes. `streams`: how
 * many of them at once, one if not said. `pause`: seconds between two pings. `allowance`: what we may take longer than the kernel, µs.
 * `io`: the backend of our ports, what the agent chooses unless given.
 * @typedef {{ name: string, kind: 'engine' }} EngineCase
 * @typedef {{ name: string, kind: 'wire', load: 'packets' | 'connections' | 'commits' | 'tcp' | 'ping', scenario: string, io?: string, offered?: string, streams?: number, pause?: number, allowance?: number }} WireCase
 * @typedef {{ name: string, kind: 'browser' }} BrowserCase takes minutes, so it runs only when it is asked for
 * @typedef {EngineCase | WireCase | BrowserCase} Case
 */

/** Ports by packet socket; the kernel forwards flows that are in the flow cache. */
const OFFLOAD = 'flow-offload';

/** @type {readonly Case[]} */
export const CASES = [
  { name: 'engine/route-1', kind: 'engine' },
  { name: 'engine/route-900k', kind: 'engine' },
  { name: 'engine/route-updates', kind: 'engine' },
  { name: 'engine/route-250k-v6', kind: 'engine' },
  { name: 'engine/stateful-64k', kind: 'engine' },
  { name: 'engine/stateful-64k-v6', kind: 'engine' },
  { name: 'engine/stateful-1m', kind: 'engine' },
  { name: 'engine/stateful-1m-v6', kind: 'engine' },
  { name: 'engine/vlan-64k', kind: 'engine' },
  { name: 'engine/vrf-16', kind: 'engine' },
  { name: 'engine/filter-25', kind: 'engine' },
  { name: 'engine/filter-10k', kind: 'engine' },
  { name: 'engine/slow-25', kind: 'engine' },
  { name: 'engine/slow-10k', kind: 'engine' },
  { name: 'engine/cps-25', kind: 'engine' },
  { name: 'engine/cps-10k', kind: 'engine' },
  { name: 'engine/nat-exhausted', kind: 'engine' },
  { name: 'engine/addrlist-1m', kind: 'engine' },
  { name: 'engine/list-updates', kind: 'engine' },
  { name: 'engine/queues-25', kind: 'engine' },
  { name: 'engine/queues-1k', kind: 'engine' },
  { name: 'engine/marks-640', kind: 'engine' },
  { name: 'engine/queues-25k', kind: 'engine' },
  { name: 'engine/queues-25k-shaping', kind: 'engine' },
  { name: 'engine/swap-25k', kind: 'engine' },
  { name: 'engine/htb-8-levels', kind: 'engine' },
  { name: 'engine/fq-codel-1k', kind: 'engine' },
  { name: 'engine/cake-1k', kind: 'engine' },
  { name: 'engine/queue-latency', kind: 'engine' },
  { name: 'engine/queue-memory', kind: 'engine' },
  { name: 'engine/commit-1-of-10k', kind: 'engine' },
  { name: 'engine/profiler', kind: 'engine' },
  { name: 'engine/handover-all', kind: 'engine' },
  { name: 'engine/2-workers', kind: 'engine' },
  { name: 'engine/htb-2-workers', kind: 'engine' },
  { name: 'wire/route', kind: 'wire', load: 'packets', scenario: 'routing' },
  { name: 'wire/route-xdp', kind: 'wire', load: 'packets', scenario: 'routing', io: 'af-xdp' },
  { name: 'wire/route-offload', kind: 'wire', load: 'packets', scenario: 'routing', io: OFFLOAD },
  { name: 'wire/masquerade-25', kind: 'wire', load: 'packets', scenario: 'masquerade-25' },
  { name: 'wire/masquerade-v6-25', kind: 'wire', load: 'packets', scenario: 'masquerade-25-v6' },
  { name: 'wire/masquerade-25-xdp', kind: 'wire', load: 'packets', scenario: 'masquerade-25', io: 'af-xdp' },
  { name: 'wire/masquerade-25-offload', kind: 'wire', load: 'packets', scenario: 'masquerade-25', io: OFFLOAD },
  { name: 'wire/cps-25', kind: 'wire', load: 'connections', scenario: 'masquerade-25' },
  { name: 'wire/commit-100kpps', kind: 'wire', load: 'commits', scenario: 'masquerade-10k' },
  { name: 'wire/ping-asleep', kind: 'wire', load: 'ping', scenario: 'routing', pause: 0.02, allowance: 60 },
  { name: 'wire/ping-awake', kind: 'wire', load: 'ping', scenario: 'routing', pause: 0.0002, allowance: 20 },
  {
    name: 'wire/ping-asleep-offload',
    kind: 'wire',
    load: 'ping',
    scenario: 'routing',
    io: OFFLOAD,
    pause: 0.02,
    allowance: 60,
  },
  {
    name: 'wire/ping-awake-offload',
    kind: 'wire',
    load: 'ping',
    scenario: 'routing',
    io: OFFLOAD,
    pause: 0.0002,
    allowance: 20,
  },
  { name: 'wire/iperf3', kind: 'wire', load: 'tcp', scenario: 'routing' },
  { name: 'wire/iperf3-v6', kind: 'wire', load: 'tcp', scenario: 'routing-v6' },
  { name: 'wire/iperf3-8', kind: 'wire', load: 'tcp', scenario: 'routing', streams: 8 },
  { name: 'wire/iperf3-offload', kind: 'wire', load: 'tcp', scenario: 'routing', io: OFFLOAD },
  { name: 'wire/iperf3-offload-8', kind: 'wire', load: 'tcp', scenario: 'routing', io: OFFLOAD, streams: 8 },
  { name: 'wire/iperf3-nat-25', kind: 'wire', load: 'tcp', scenario: 'masquerade-25' },
  { name: 'wire/iperf3-nat-25-8', kind: 'wire', load: 'tcp', scenario: 'masquerade-25', streams: 8 },
  { name: 'wire/iperf3-nat-25-offload', kind: 'wire', load: 'tcp', scenario: 'masquerade-25', io: OFFLOAD },
  {
    name: 'wire/iperf3-nat-25-offload-8',
    kind: 'wire',
    load: 'tcp',
    scenario: 'masquerade-25',
    io: OFFLOAD,
    streams: 8,
  },
  { name: 'wire/iperf3-nat-25-queue', kind: 'wire', load: 'tcp', scenario: 'masquerade-25-queue', offered: '900M' },
  { name: 'wire/iperf3-nat-25-queue-100g', kind: 'wire', load: 'tcp', scenario: 'masquerade-25-queue-100g' },
  { name: 'wire/htb-25', kind: 'wire', load: 'packets', scenario: 'htb-25' },
  { name: 'wire/htb-25-8', kind: 'wire', load: 'tcp', scenario: 'htb-25', streams: 8 },
  { name: 'browser', kind: 'browser' },
];

/** A glob over a whole name; `*` stands for any characters. @param {string} glob */
function globToExpression(glob) {
  const literal = (/** @type {string} */ text) => text.replace(/[\\^$.|?+()[\]{}]/g, '\\$&');
  return new RegExp(`^${glob.split('*').map(literal).join('.*')}$`);
}

/**
 * The cases that match one of the patterns (comma-separated lists of names, globs or prefixes), in the
 * order of {@link CASES}; all of them without patterns. A full name means only itself, although it may
 * be the beginning of another.
 * @param {readonly string[]} lists
 * @throws when a pattern matches nothing
 */
export function selectCases(lists) {
  if (lists.length === 0) return CASES.filter((entry) => entry.kind !== 'browser');
  const chosen = new Set();
  for (const pattern of lists.flatMap((list) => list.split(',')).map((word) => word.trim())) {
    const exact = CASES.filter((entry) => entry.name === pattern);
    const glob = globToExpression(pattern);
    const matching = pattern.includes('*')
      ? CASES.filter((entry) => glob.test(entry.name))
      : CASES.filter((entry) => pattern !== '' && entry.name.startsWith(pattern));
    const hits = exact.length > 0 ? exact : matching;
    if (hits.length === 0) throw new Error(`--case: no case matches "${pattern}"`);
    for (const entry of hits) chosen.add(entry);
  }
  return CASES.filter((entry) => chosen.has(entry));
}
