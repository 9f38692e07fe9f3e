// @ts-check
/** The networks of the wire cases: generator - router - sink, one for each router, and one without a router. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensurePrograms, labNeeds, routerNeeds } from '../install.mjs';
import { messageOf, run } from '../process.mjs';
import { agentDir } from '../project.mjs';
import { Daemon, runAsync } from './background.mjs';
import { Namespaces, removeStaleNamespaces, startGuard } from './namespaces.mjs';

const GENERATOR_MAC = '02:00:00:77:00:02';
const SINK_MAC = '02:00:00:78:00:02';
/** Address of the sink for generators, behind a router or straight on the wire. */
export const SINK_ADDRESS = '10.78.0.2';
/** The same of IPv6: each address of the wire cases has one that stands for it. @param {string} address */
export const inIpv6 = (address) => `2001:db8::${address}`;
/** Whether a scenario has IPv6. @param {string} scenario */
export const hasIpv6 = (scenario) => scenario.endsWith('-v6');
/** Bits before those of the address of IPv4 that one of IPv6 stands for. */
const IPV6_BITS = 96;
/** Time until our router uses its addresses of IPv6, which no other station must have, ms. */
const ADDRESS_MS = 1_500;

/** Link-layer address that generators send to. */
export const ROUTER_MAC = '02:00:00:77:00:01';

/** Context of a measured case. @typedef {{ lab: Lab, quick: boolean, note: (line: string) => void }} Context */

/** A router under test, or `direct` for none. @typedef {'direct' | 'kernel' | 'ours'} Wire */

/** @returns {Promise<string | undefined>} why the wire cases cannot run here */
export async function whyNoLab() {
  if (process.getuid?.() !== 0) return 'it makes network namespaces and needs root';
  try {
    await ensurePrograms([...routerNeeds, ...labNeeds.filter((need) => need.program === 'iperf3')]);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/**
 * Everything one wire case needs, made at once and removed at once. The hosts of a wire are the
 * namespaces `WIRE-gen`, `WIRE-router` and `WIRE-sink`.
 */
export class Lab {
  #namespaces = new Namespaces();
  /** @type {Daemon[]} */
  #daemons = [];
  /** The scenario that is built has IPv6. Otherwise no namespace has it. */
  #ipv6 = false;
  #directory = mkdtempSync(path.join(tmpdir(), 'tollway-bench-'));
  #interrupted = () => {
    void this.remove().finally(() => process.exit(130));
  };

  /** @param {string} bench path of the `tollway-bench` program */
  constructor(bench) {
    this.bench = bench;
    startGuard(this.#directory);
    process.once('SIGINT', this.#interrupted);
    process.once('SIGTERM', this.#interrupted);
  }

  /**
   * Builds all three wires; both routers get the scenario's configuration, ours with ports by `io`.
   * @param {string} scenario
   * @param {string} io
   * @returns {Promise<string>} the backend that our ports have
   */
  async build(scenario, io = 'auto') {
    await removeStaleNamespaces();
    this.#ipv6 = hasIpv6(scenario);
    this.#addDirect();
    this.#addKernelRouter(scenario);
    const backend = await this.#addOurRouter(scenario, io);
    if (hasIpv6(scenario)) await sleep(ADDRESS_MS);
    return backend;
  }

  /** Builds only the wire with our router. @param {{ scenario: string, io?: string }} entry @returns {Promise<string>} as {@link build} */
  async buildOurs({ scenario, io = 'auto' }) {
    await removeStaleNamespaces();
    return this.#addOurRouter(scenario, io);
  }

  /** Makes a wire's sink drop all packets as early as possible. @param {Wire} wire */
  dropAtSink(wire) {
    const chain = 'chain sink {\n    type filter hook ingress device "eth0" priority 0; policy drop;\n  }';
    this.#namespaces.nft(`${wire}-sink`, `table netdev bench {\n  ${chain}\n}\n`);
  }

  /** Packets that have arrived at a wire's sink. @param {Wire} wire @returns {number} */
  received(wire) {
    const [link] = JSON.parse(this.#namespaces.ip(`${wire}-sink`, '-json -statistics link show eth0'));
    return link.stats64.rx.packets;
  }

  /**
   * Starts a program that runs until the lab is removed.
   * @param {string} host
   * @param {readonly string[]} argv
   */
  start(host, argv) {
    const daemon = new Daemon(this.command(host, argv));
    this.#daemons.push(daemon);
    return daemon;
  }

  /** The command line that runs a command on a host. @param {string} host @param {readonly string[]} argv */
  command(host, argv) {
    return this.#namespaces.command(host, argv);
  }

  /** Counters of our agent (`Stats` of the agent's protocol). */
  agentStats() {
    return JSON.parse(run(this.bench, ['stats', '--socket', this.#socket]).stdout);
  }

  /**
   * Changes one of our router's filter rules `count` times, `every` so many milliseconds.
   * @param {string} scenario
   * @param {{ io?: string, count: number, every: number }} options
   * @returns {Promise<{ median_ms: number, longest_ms: number }>} how long a commit took
   */
  async commit(scenario, { io = 'auto', count, every }) {
    const times = ['--count', String(count), '--every', String(every)];
    return JSON.parse(await runAsync([this.bench, 'commits', ...this.#configuration(scenario, io), ...times]));
  }

  /**
   * Traffic that passed the queues of both routers from the generator to the sink, bytes.
   * @returns {{ ours: number, kernel: number, dropped: number }}
   */
  queued() {
    const ours = JSON.parse(run(this.bench, ['queues', '--socket', this.#socket]).stdout);
    const leaves = this.#namespaces.disciplines('kernel-router', 'wan').filter(({ kind }) => kind === 'pfifo');
    const kernel = leaves.reduce((sum, { bytes }) => sum + bytes, 0);
    return { ours: ours.upload, kernel, dropped: ours.dropped };
  }

  /** Stops what was started and removes every namespace. */
  async remove() {
    process.off('SIGINT', this.#interrupted);
    process.off('SIGTERM', this.#interrupted);
    await Promise.all(this.#daemons.map((daemon) => daemon.stop()));
    await this.#namespaces.remove();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  get #socket() {
    return path.join(this.#directory, 'run', 'agent.sock');
  }

  #addDirect() {
    const names = this.#namespaces;
    names.add('direct-gen');
    names.add('direct-sink');
    this.#join('direct-gen', 'eth0', GENERATOR_MAC, 'direct-sink', 'eth0', ROUTER_MAC);
    this.#address('direct-gen', '10.78.0.3', 'eth0');
    this.#address('direct-sink', SINK_ADDRESS, 'eth0');
  }

  /** @param {string} scenario */
  #addKernelRouter(scenario) {
    this.#addChain('kernel');
    const router = (/** @type {string} */ words) => this.#namespaces.ip('kernel-router', words);
    this.#address('kernel-router', '10.77.0.1', 'lan');
    this.#address('kernel-router', '10.78.0.1', 'wan');
    for (const of of this.#families()) {
      const bits = of === inIpv6 ? IPV6_BITS : 0;
      router(`neighbor add ${of('10.77.0.2')} lladdr ${GENERATOR_MAC} nud permanent dev lan`);
      router(`neighbor add ${of(SINK_ADDRESS)} lladdr ${SINK_MAC} nud permanent dev wan`);
      router(`route add ${of('172.16.0.0')}/${bits + 12} via ${of('10.77.0.2')}`);
      router(`route add ${of('198.18.0.0')}/${bits + 15} via ${of(SINK_ADDRESS)}`);
    }
    this.#namespaces.sysctl('kernel-router', 'net.ipv4.ip_forward=1');
    if (this.#ipv6) this.#namespaces.sysctl('kernel-router', 'net.ipv6.conf.all.forwarding=1');
    const ruleset = run(this.bench, ['nft', '--scenario', scenario]).stdout;
    if (ruleset !== '') this.#namespaces.nft('kernel-router', ruleset);
    const disciplines = run(this.bench, ['htb', '--scenario', scenario]).stdout;
    if (disciplines !== '') this.#namespaces.tc('kernel-router', disciplines);
  }

  /** @param {string} scenario @param {string} io */
  async #addOurRouter(scenario, io) {
    this.#addChain('ours');
    const host = [process.execPath, path.join(agentDir, 'host.mjs'), '--ports', 'lan,wan'];
    const place = ['--socket', this.#socket, '--data-dir', this.#directory];
    const agent = this.start('ours-router', [...host, ...place, '--netns-name', this.#namespaces.name('svc')]);
    const configure = ['configure', ...this.#configuration(scenario, io)];
    const deadline = performance.now() + 15_000;
    for (;;) {
      const { code, stdout, stderr } = run(this.bench, configure, { allowFailure: true });
      if (code === 0) return stdout.trim();
      if (agent.lastOutput !== undefined) throw new Error(`the agent did not start: ${agent.lastOutput}`);
      if (performance.now() > deadline) throw new Error(stderr.trim());
      await sleep(100);
    }
  }

  /** Our router's configuration for `tollway-bench`. @param {string} scenario @param {string} io */
  #configuration(scenario, io) {
    const neighbors = ['--lan-mac', GENERATOR_MAC, '--wan-mac', SINK_MAC];
    return ['--socket', this.#socket, '--scenario', scenario, '--io', io, ...neighbors];
  }

  /** Generator and sink at a router's ports `lan` and `wan`. @param {Wire} wire */
  #addChain(wire) {
    const names = this.#namespaces;
    const [gen, router, sink] = [`${wire}-gen`, `${wire}-router`, `${wire}-sink`];
    for (const host of [gen, router, sink]) names.add(host);
    this.#join(gen, 'eth0', GENERATOR_MAC, router, 'lan', ROUTER_MAC);
    this.#join(sink, 'eth0', SINK_MAC, router, 'wan', '02:00:00:78:00:01');
    this.#address(gen, '10.77.0.2', 'eth0');
    this.#address(sink, SINK_ADDRESS, 'eth0');
    for (const of of this.#families()) {
      names.ip(gen, `route add default via ${of('10.77.0.1')}`);
      names.ip(sink, `route add default via ${of('10.78.0.1')}`);
    }
  }

  /**
   * An address of a /16 and the one of IPv6 that stands for it, which is used at once.
   * @param {string} host
   * @param {string} address
   * @param {string} device
   */
  #address(host, address, device) {
    this.#namespaces.ip(host, `address add ${address}/16 dev ${device}`);
    if (!this.#ipv6) return;
    this.#namespaces.sysctl(host, `net.ipv6.conf.${device}.disable_ipv6=0`);
    this.#namespaces.ip(host, `address add ${inIpv6(address)}/${IPV6_BITS + 16} dev ${device} nodad`);
  }

  /** Of each family that there is, the address of it that stands for one of IPv4. @returns {((address: string) => string)[]} */
  #families() {
    return this.#ipv6 ? [(address) => address, inIpv6] : [(address) => address];
  }

  /**
   * A veth between two hosts, up on both sides.
   * @param {string} host
   * @param {string} device
   * @param {string} mac
   * @param {string} peerHost
   * @param {string} peerDevice
   * @param {string} peerMac
   */
  #join(host, device, mac, peerHost, peerDevice, peerMac) {
    const names = this.#namespaces;
    const peer = `peer name ${peerDevice} address ${peerMac} netns ${names.name(peerHost)}`;
    names.ip(host, `link add ${device} address ${mac} type veth ${peer}`);
    names.ip(host, `link set ${device} up`);
    names.ip(peerHost, `link set ${peerDevice} up`);
  }
}
