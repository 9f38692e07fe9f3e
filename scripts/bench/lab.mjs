// The wires of the wire cases: generator - router - sink, once per router, and the generator alone.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HOST } from './build.mjs';
import { Daemon, installed, run } from './command.mjs';
import { Namespaces, removeStaleNamespaces, startGuard } from './namespaces.mjs';

const GENERATOR_MAC = '02:00:00:77:00:02';
const SINK_MAC = '02:00:00:78:00:02';
/** Where the generator of the direct wire finds its peer, and a generator the sink behind a router. */
export const SINK_ADDRESS = '10.78.0.2';
/** Link-layer address a generator sends to. */
export const ROUTER_MAC = '02:00:00:77:00:01';

/** Why the wire cases cannot run here; undefined if they can. */
export function whyNoLab() {
  if (process.getuid?.() !== 0) return 'it makes network namespaces and needs root';
  const missing = ['ip', 'nft', 'iperf3', 'sysctl'].filter((program) => !installed(program));
  if (missing.length > 0) return `${missing.join(', ')} not installed (apt-get install iproute2 nftables iperf3 procps)`;
  return undefined;
}

/**
 * Everything one wire case needs, made at once and removed at once. A *wire* is the short name of a
 * router: `kernel`, `ours`, or `direct` for none; its hosts are the namespaces `WIRE-gen` and `WIRE-sink`.
 */
export class Lab {
  #namespaces = new Namespaces();
  #daemons = [];
  #directory = mkdtempSync(join(tmpdir(), 'tollway-bench-'));
  #interrupted = () => {
    this.#namespaces.removeAll();
    rmSync(this.#directory, { recursive: true, force: true });
    process.exit(130);
  };

  /** @param {string} bench  Path of the `tollway-bench` binary. */
  constructor(bench) {
    this.bench = bench;
    removeStaleNamespaces();
    startGuard();
    process.on('SIGINT', this.#interrupted);
    process.on('SIGTERM', this.#interrupted);
  }

  /** Generator and peer on one wire. */
  addDirect() {
    const names = this.#namespaces;
    names.add('direct-gen');
    names.add('direct-sink');
    names.ip('direct-gen', `link add eth0 address ${GENERATOR_MAC} type veth peer name eth0 address ${ROUTER_MAC} netns ${names.name('direct-sink')}`);
    names.ip('direct-gen', 'link set eth0 up');
    names.ip('direct-sink', 'link set eth0 up');
    names.ip('direct-gen', 'address add 10.78.0.3/16 dev eth0');
    names.ip('direct-sink', `address add ${SINK_ADDRESS}/16 dev eth0`);
  }

  /** A Linux router with a scenario's configuration. */
  addKernelRouter(scenario) {
    this.#addChain('kernel');
    const names = this.#namespaces;
    names.ip('kernel-router', 'address add 10.77.0.1/16 dev lan');
    names.ip('kernel-router', 'address add 10.78.0.1/16 dev wan');
    names.ip('kernel-router', `neighbor add 10.77.0.2 lladdr ${GENERATOR_MAC} nud permanent dev lan`);
    names.ip('kernel-router', `neighbor add ${SINK_ADDRESS} lladdr ${SINK_MAC} nud permanent dev wan`);
    names.ip('kernel-router', 'route add 172.16.0.0/12 via 10.77.0.2');
    names.ip('kernel-router', `route add 198.18.0.0/15 via ${SINK_ADDRESS}`);
    names.sysctl('kernel-router', 'net.ipv4.ip_forward=1');
    const ruleset = run(this.bench, ['nft', '--scenario', scenario]);
    if (ruleset !== '') names.nft('kernel-router', ruleset);
  }

  /** Our agent with the same configuration. */
  async addOurRouter(scenario) {
    this.#addChain('ours');
    const socket = join(this.#directory, 'run', 'agent.sock');
    const agent = this.#start('ours-router', [
      process.execPath, HOST, '--socket', socket, '--data-dir', this.#directory,
      '--netns-name', this.#namespaces.name('svc'), '--ports', 'lan,wan',
    ]);
    const configure = ['configure', '--socket', socket, '--scenario', scenario];
    const deadline = Date.now() + 15_000;
    for (;;) {
      try {
        run(this.bench, [...configure, '--lan-mac', GENERATOR_MAC, '--wan-mac', SINK_MAC]);
        return;
      } catch (error) {
        if (agent.lastWords !== undefined) throw new Error(`the agent did not start: ${agent.lastWords}`);
        if (Date.now() > deadline) throw error;
        await sleep(100);
      }
    }
  }

  /** Lets a wire's sink drop everything before it costs anything. */
  dropAtSink(wire) {
    this.#namespaces.nft(
      `${wire}-sink`,
      'table netdev bench {\n  chain sink {\n    type filter hook ingress device "eth0" priority 0; policy drop;\n  }\n}\n',
    );
  }

  /** Packets that have arrived at a wire's sink. */
  received(wire) {
    const [link] = JSON.parse(this.#namespaces.ip(`${wire}-sink`, '-json -statistics link show eth0'));
    return link.stats64.rx.packets;
  }

  /** Starts a program that runs until the lab is removed. `host` is a namespace, as `kernel-sink`. */
  start(host, words) {
    this.#start(host, words);
  }

  /** Program and arguments that run a command on a host. */
  command(host, words) {
    return this.#namespaces.command(host, words);
  }

  /** Stops what was started and removes every namespace. */
  async remove() {
    await Promise.all(this.#daemons.map((daemon) => daemon.stop()));
    this.#namespaces.removeAll();
    rmSync(this.#directory, { recursive: true, force: true });
    process.off('SIGINT', this.#interrupted);
    process.off('SIGTERM', this.#interrupted);
  }

  #start(host, words) {
    const daemon = new Daemon(...this.#namespaces.command(host, words));
    this.#daemons.push(daemon);
    return daemon;
  }

  #addChain(wire) {
    const names = this.#namespaces;
    for (const host of ['gen', 'router', 'sink']) names.add(`${wire}-${host}`);
    const router = names.name(`${wire}-router`);
    names.ip(`${wire}-gen`, `link add eth0 address ${GENERATOR_MAC} type veth peer name lan address ${ROUTER_MAC} netns ${router}`);
    names.ip(`${wire}-sink`, `link add eth0 address ${SINK_MAC} type veth peer name wan address 02:00:00:78:00:01 netns ${router}`);
    for (const port of ['lan', 'wan']) names.ip(`${wire}-router`, `link set ${port} up`);
    names.ip(`${wire}-gen`, 'link set eth0 up');
    names.ip(`${wire}-sink`, 'link set eth0 up');
    names.ip(`${wire}-gen`, 'address add 10.77.0.2/16 dev eth0');
    names.ip(`${wire}-sink`, `address add ${SINK_ADDRESS}/16 dev eth0`);
    names.ip(`${wire}-gen`, 'route add default via 10.77.0.1');
    names.ip(`${wire}-sink`, 'route add default via 10.78.0.1');
  }
}
