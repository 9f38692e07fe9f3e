import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Background, Host } from './netns.ts';
import { eventually, sleep } from './wait.ts';

/** An IPv4 packet that arrived. */
export interface Arrival {
  /** Time when the kernel took it from the wire, ms since 1970 with fractions. */
  readonly timeMs: number;
  /** Length by its IP header. */
  readonly bytes: number;
  readonly source: string;
  readonly destination: string;
  /** Ports of UDP and TCP, 0 of others. */
  readonly sourcePort: number;
  readonly destinationPort: number;
}

/** Headers of Ethernet, IPv4 and UDP, with room for options. */
const SNAP_BYTES = 96;
const SETTLE_MS = 300;

/** Packets that arrive at a host, from when this is made until {@link Capture.end}. */
export class Capture {
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'tollway-capture-'));
  readonly #file = path.join(this.#folder, 'packets');
  readonly #dump: Background;

  private constructor(host: Host, filter: readonly string[]) {
    const options = ['-n', '-i', 'eth0', '-Q', 'in', '-s', String(SNAP_BYTES), '-B', '16384', '-Z', 'root'];
    this.#dump = host.start('tcpdump', ...options, '--immediate-mode', '--nano', '-w', this.#file, ...filter);
  }

  static async start(host: Host, ...filter: string[]): Promise<Capture> {
    const capture = new Capture(host, filter);
    const dump = capture.#dump;
    await eventually(() => dump.stderr.includes('listening on') || dump.exited);
    if (dump.exited) throw new Error(dump.stderr);
    return capture;
  }

  /** Ends it and gives the packets in order of their times. */
  async end(): Promise<Arrival[]> {
    // tcpdump does not read the rest of its buffer when it is asked to end.
    await sleep(SETTLE_MS);
    const { stderr } = await this.#dump.end();
    const packets = arrivals(readFileSync(this.#file));
    rmSync(this.#folder, { recursive: true, force: true });
    if (!/\b0 packets dropped by kernel/.test(stderr)) throw new Error(`the capture has gaps: ${stderr}`);
    return packets;
  }
}

/** Reads a file of pcap-savefile(5) with nanoseconds, little-endian, of Ethernet frames. */
function arrivals(file: Buffer): Arrival[] {
  if (file.readUInt32LE(0) !== 0xa1b23c4d) throw new Error('no capture with nanoseconds');
  const found: Arrival[] = [];
  for (let at = 24; at + 16 <= file.length; at += 16 + file.readUInt32LE(at + 8)) {
    const frame = file.subarray(at + 16, at + 16 + file.readUInt32LE(at + 8));
    if (frame.length < 34 || frame.readUInt16BE(12) !== 0x0800) continue;
    const ip = frame.subarray(14);
    const ports = ((ip[0] ?? 0) & 0x0f) * 4;
    const hasPorts = (ip[9] === 17 || ip[9] === 6) && (ip.readUInt16BE(6) & 0x1fff) === 0 && ip.length >= ports + 4;
    found.push({
      timeMs: file.readUInt32LE(at) * 1000 + file.readUInt32LE(at + 4) / 1e6,
      bytes: ip.readUInt16BE(2),
      source: ip.subarray(12, 16).join('.'),
      destination: ip.subarray(16, 20).join('.'),
      sourcePort: hasPorts ? ip.readUInt16BE(ports) : 0,
      destinationPort: hasPorts ? ip.readUInt16BE(ports + 2) : 0,
    });
  }
  return found;
}

/** The ends of a window lie within this time after the moments asked for, ms. */
const END_MS = 250;

/**
 * Rate of what arrived in a window of about `seconds` from `fromMs` on, bits of IP per second, for a limit that was
 * reached all the time. A window between any two moments would tell the rate only to the stretch that the router was
 * behind at either, waiting for its core; so each end is the packet that came earliest against the limit, among those
 * within a quarter of a second. What remains is one packet.
 */
export function rateOf(packets: readonly Arrival[], limit: number, fromMs: number, seconds: number): number {
  let bits = 0;
  const lead = packets.map((packet) => {
    bits += packet.bytes * 8;
    return { timeMs: packet.timeMs, bits, ahead: bits - (limit * (packet.timeMs - fromMs)) / 1000 };
  });
  const end = (sinceMs: number) =>
    lead
      .filter(({ timeMs }) => timeMs >= sinceMs && timeMs < sinceMs + END_MS)
      .reduce<(typeof lead)[number] | undefined>(
        (best, each) => (best === undefined || each.ahead > best.ahead ? each : best),
        undefined,
      );
  const first = end(fromMs);
  const last = end(fromMs + seconds * 1000);
  if (first === undefined || last === undefined) return 0;
  return ((last.bits - first.bits) / (last.timeMs - first.timeMs)) * 1000;
}

/** The most bits by which any stretch of the packets is ahead of a rate, the first packet of the stretch included. */
export function mostAhead(packets: readonly Arrival[], rate: number): number {
  let [most, ahead, before] = [0, 0, 0];
  for (const { timeMs, bytes } of packets) {
    ahead = Math.max(0, ahead - (rate * (timeMs - before)) / 1000) + bytes * 8;
    before = timeMs;
    most = Math.max(most, ahead);
  }
  return most;
}

/** The longest time between two packets that followed each other, ms. */
export const longestPause = (packets: readonly Arrival[]): number =>
  packets.slice(1).reduce((longest, { timeMs }, index) => Math.max(longest, timeMs - (packets[index]?.timeMs ?? 0)), 0);

/** The longest pauses between packets, for messages of failing tests. */
export function pauses(packets: readonly Arrival[]): string {
  const [first] = packets;
  const found = packets.slice(1).map(({ timeMs }, index) => ({
    lengthMs: Math.round(timeMs - (packets[index]?.timeMs ?? 0)),
    atMs: Math.round(timeMs - (first?.timeMs ?? 0)),
  }));
  const longest = found.sort((a, b) => b.lengthMs - a.lengthMs).slice(0, 5);
  return `longest pauses: ${longest.map(({ lengthMs, atMs }) => `${lengthMs} ms at ${atMs} ms`).join(', ')}`;
}
