import type { IpSettings, Tracking } from '@tollway/dataplane-agent';
import { durationMs } from '@tollway/schema';
import { rowsOf } from '../snapshot/snapshot.js';
import { type CompileContext, effective } from './context.js';

/** Size of the connection table over all workers, entries. */
const CONNECTION_TABLE_ENTRIES = 262_144;

class Settings {
  readonly #menu: string;
  readonly #context: CompileContext;

  constructor(context: CompileContext, menu: string) {
    this.#context = context;
    this.#menu = menu;
  }

  word(property: string): string {
    const value = effective(this.#menu, rowsOf(this.#context.snapshot, this.#menu)[0], property);
    // Every setting has a default in the schema; the registry test holds it to that.
    if (value === undefined) throw new Error(`${this.#menu} ${property} has neither value nor default`);
    return value;
  }

  yes(property: string): boolean {
    return this.word(property) === 'true';
  }

  integer(property: string): number {
    return Number(this.word(property));
  }

  ms(property: string): number {
    return durationMs(this.word(property)) ?? 0;
  }
}

/** `/ip/settings`. */
export function compileSettings(context: CompileContext): IpSettings {
  const settings = new Settings(context, '/ip/settings');
  const rpFilter = settings.word('rp-filter');
  return {
    'ip-forward': settings.yes('ip-forward'),
    'rp-filter': rpFilter === 'strict' || rpFilter === 'loose' ? rpFilter : 'no',
    'allow-fast-path': settings.yes('allow-fast-path'),
    'fasttrack-mode': settings.word('fasttrack-mode') === 'bypass' ? 'bypass' : 'cached',
    'flow-offload': settings.yes('flow-offload'),
    'max-neighbor-entries': settings.integer('max-neighbor-entries'),
    'arp-timeout-ms': settings.ms('arp-timeout'),
    'icmp-rate-limit-ms': settings.integer('icmp-rate-limit'),
  };
}

/** `/ip/firewall/connection/tracking`. */
export function compileTracking(context: CompileContext): Tracking {
  const settings = new Settings(context, '/ip/firewall/connection/tracking');
  const enabled = settings.word('enabled');
  return {
    enabled: enabled === 'yes' || enabled === 'no' ? enabled : 'auto',
    'tcp-syn-sent-timeout-ms': settings.ms('tcp-syn-sent-timeout'),
    'tcp-syn-received-timeout-ms': settings.ms('tcp-syn-received-timeout'),
    'tcp-established-timeout-ms': settings.ms('tcp-established-timeout'),
    'tcp-fin-wait-timeout-ms': settings.ms('tcp-fin-wait-timeout'),
    'tcp-close-wait-timeout-ms': settings.ms('tcp-close-wait-timeout'),
    'tcp-last-ack-timeout-ms': settings.ms('tcp-last-ack-timeout'),
    'tcp-time-wait-timeout-ms': settings.ms('tcp-time-wait-timeout'),
    'tcp-close-timeout-ms': settings.ms('tcp-close-timeout'),
    'tcp-max-retrans-timeout-ms': settings.ms('tcp-max-retrans-timeout'),
    'tcp-unacked-timeout-ms': settings.ms('tcp-unacked-timeout'),
    'loose-tcp-tracking': settings.yes('loose-tcp-tracking'),
    'liberal-tcp-tracking': settings.yes('liberal-tcp-tracking'),
    'udp-timeout-ms': settings.ms('udp-timeout'),
    'udp-stream-timeout-ms': settings.ms('udp-stream-timeout'),
    'icmp-timeout-ms': settings.ms('icmp-timeout'),
    'generic-timeout-ms': settings.ms('generic-timeout'),
    'max-entries': CONNECTION_TABLE_ENTRIES,
  };
}
