// @ts-check
/** The processes that generate the lab's traffic. */
import { enterNetns } from '../netns.mjs';
import { inProject } from '../project.mjs';
import { IPERF_PORT, ROUTER_WAN_ADDRESS } from './topology.mjs';

/**
 * @param {import('./topology.mjs').Lab} lab
 * @returns {{ name: string, argv: string[] }[]}
 */
export function trafficOf(lab) {
  /** @param {string} host @param {string[]} argv */
  const on = (host, argv) => enterNetns(lab.hosts.find((each) => each.name === host)?.netns ?? host, argv);
  /** @param {string} script @param {string[]} args */
  const script = (script, ...args) => [
    process.execPath,
    '--max-old-space-size=64',
    inProject('scripts', 'lab', script),
    ...args,
  ];
  return [
    { name: 'server', argv: on('server', script('server.mjs')) },
    { name: 'iperf3', argv: on('server', ['iperf3', '--server', '--port', String(IPERF_PORT)]) },
    { name: 'lan', argv: on('lan', script('client.mjs', 'web', 'laptop')) },
    { name: 'lan2', argv: on('lan2', script('client.mjs', 'stream', 'tv')) },
    // Sent to the router itself, so that forwarded ICMP packets, and counters of rules for them, are only those of the
    // user.
    { name: 'ping', argv: on('wan', ['ping', '-n', '-q', '-i', '1', ROUTER_WAN_ADDRESS]) },
  ];
}
