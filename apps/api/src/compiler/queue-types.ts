import type { Codel, PcqClassifier, QueueType } from '@tollway/dataplane-agent';
import { durationMs, durationUs, menuByPath } from '@tollway/schema';
import { withBuiltin } from '../snapshot/builtin.js';
import { type Row, rowsOf } from '../snapshot/snapshot.js';
import { cakeFraming, cakeRtt } from './cake-schemes.js';
import { type CompileContext, effective, requiredValue } from './context.js';
import { DependencyRecorder } from './dependency-recorder.js';
import { InvalidRow } from './invalid-row.js';

const MENU = '/queue/type';

/** Queue types by name, and indices of the referenced ones. */
export class QueueTypes {
  readonly #rows: ReadonlyMap<string, Row>;
  readonly #index = new Map<string, number>();
  readonly #types: QueueType[] = [];
  /** Types that are looked up, by name and index. */
  readonly dependencies = new DependencyRecorder<readonly [string, number]>();

  constructor(context: CompileContext) {
    const menu = menuByPath(MENU);
    const stored = rowsOf(context.snapshot, MENU);
    const rows = menu === undefined ? stored : withBuiltin(menu, stored);
    this.#rows = new Map(rows.map((row) => [row.values.name ?? '', row]));
  }

  /** @throws InvalidRow when there is no such type. */
  indexOf(name: string): number {
    let index = this.#index.get(name);
    if (index === undefined) {
      index = this.#types.push(queueTypeOf(this.#row(name))) - 1;
      this.#index.set(name, index);
    }
    this.dependencies.add([name, index]);
    return index;
  }

  /** Kind of a type. @throws InvalidRow when there is no such type. */
  kindOf(name: string): string {
    return requiredValue(MENU, this.#row(name), 'kind');
  }

  /** The referenced types, by index. */
  compiled(): QueueType[] {
    return this.#types;
  }

  #row(name: string): Row {
    const row = this.#rows.get(name);
    if (row === undefined) throw new InvalidRow(`queue type ${name} does not exist`);
    return row;
  }
}

/** Reads the settings of a row, or their defaults. */
class Settings {
  readonly #row: Row;

  constructor(row: Row) {
    this.#row = row;
  }

  text(property: string): string {
    return effective(MENU, this.#row, property) ?? '';
  }

  /** 0 where it is not given. */
  integer(property: string): number {
    return Number(this.text(property));
  }

  yes(property: string): boolean {
    return this.text(property) === 'true';
  }

  /** Bytes. */
  kibibytes(property: string): number {
    return 1_024 * this.integer(property);
  }

  ms(property: string): number {
    return durationMs(this.text(property)) ?? 0;
  }

  /** 0 where it is not given. */
  us(property: string): number {
    return durationUs(this.text(property)) ?? 0;
  }

  /** The word given. @throws InvalidRow when it is none of `words`. */
  word<T extends string>(property: string, words: readonly T[]): T {
    const text = this.text(property);
    const found = words.find((word) => word === text);
    if (found === undefined) throw new InvalidRow(`${property}: ${text} is not known`);
    return found;
  }
}

function queueTypeOf(row: Row): QueueType {
  const settings = new Settings(row);
  const kind = requiredValue(MENU, row, 'kind');
  switch (kind) {
    case 'none':
      return { kind };
    case 'pfifo':
    case 'bfifo':
    case 'mq-pfifo':
      return { kind, limit: settings.integer(`${kind}-limit`) };
    case 'red':
      return {
        kind,
        limit: settings.integer('red-limit'),
        'min-threshold': settings.integer('red-min-threshold'),
        'max-threshold': settings.integer('red-max-threshold'),
        burst: settings.integer('red-burst'),
        'avg-packet': settings.integer('red-avg-packet'),
      };
    case 'sfq':
      return { kind, 'perturb-s': settings.integer('sfq-perturb'), allot: settings.integer('sfq-allot') };
    case 'pcq':
      return pcq(settings);
    case 'codel':
      return { kind, ...codel(settings, kind) };
    case 'fq-codel':
      return {
        kind,
        codel: codel(settings, kind),
        flows: settings.integer('fq-codel-flows'),
        quantum: settings.integer('fq-codel-quantum'),
        'memory-limit': settings.integer('fq-codel-memlimit'),
      };
    case 'cake':
      return { kind, ...cake(settings) };
    default:
      throw new InvalidRow(`kind: ${kind} is no kind of queue`);
  }
}

const PCQ_CLASSIFIERS: readonly PcqClassifier[] = ['src-address', 'dst-address', 'src-port', 'dst-port'];

function pcq(settings: Settings): QueueType {
  const classifier = settings.text('pcq-classifier').split(',');
  return {
    kind: 'pcq',
    rate: settings.integer('pcq-rate'),
    limit: settings.kibibytes('pcq-limit'),
    'total-limit': settings.kibibytes('pcq-total-limit'),
    classifier: PCQ_CLASSIFIERS.filter((word) => classifier.includes(word)),
    'burst-rate': settings.integer('pcq-burst-rate'),
    'burst-threshold': settings.integer('pcq-burst-threshold'),
    'burst-time-ms': settings.ms('pcq-burst-time'),
    'src-address-mask': settings.integer('pcq-src-address-mask'),
    'dst-address-mask': settings.integer('pcq-dst-address-mask'),
    'src-address6-mask': settings.integer('pcq-src-address6-mask'),
    'dst-address6-mask': settings.integer('pcq-dst-address6-mask'),
  };
}

const codel = (settings: Settings, kind: 'codel' | 'fq-codel'): Codel => ({
  limit: settings.integer(`${kind}-limit`),
  'target-us': settings.us(`${kind}-target`),
  'interval-us': settings.us(`${kind}-interval`),
  ecn: settings.yes(`${kind}-ecn`),
  'ce-threshold-us': settings.us(`${kind}-ce-threshold`),
});

function cake(settings: Settings): Omit<Extract<QueueType, { kind: 'cake' }>, 'kind'> {
  const framing = cakeFraming(settings.text('cake-overhead-scheme').split(','), {
    overhead: settings.integer('cake-overhead'),
    mpu: settings.integer('cake-mpu'),
    atm: settings.word('cake-atm', ['none', 'atm', 'ptm']),
  });
  return {
    bandwidth: settings.integer('cake-bandwidth'),
    'autorate-ingress': settings.yes('cake-autorate-ingress'),
    ...framing,
    'rtt-us': cakeRtt(settings.text('cake-rtt-scheme')) ?? settings.us('cake-rtt'),
    diffserv: settings.word('cake-diffserv', ['diffserv3', 'diffserv4', 'diffserv8', 'besteffort', 'precedence']),
    flowmode: settings.word('cake-flowmode', [
      'flowblind',
      'srchost',
      'dsthost',
      'hosts',
      'flows',
      'dual-srchost',
      'dual-dsthost',
      'triple-isolate',
    ]),
    nat: settings.yes('cake-nat'),
    wash: settings.yes('cake-wash'),
    'ack-filter': settings.word('cake-ack-filter', ['none', 'filter', 'aggressive']),
    'memory-limit': settings.integer('cake-memlimit'),
  };
}
