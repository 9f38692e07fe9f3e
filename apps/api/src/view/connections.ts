import type { AddressFamily } from '@tollway/schema';
import type { ConnectionDump } from '../agent/connections.js';
import type { ConfigStore } from '../config/store.js';
import { TimeSlicer } from '../scheduling/time-slicer.js';
import { MAIN_VRF } from '../snapshot/vrfs.js';
import type { LiveState } from '../state/live-state.js';
import { type IsRequested, type RestRow, type RowSet, UNAVAILABLE_ROWS, type View } from './rows.js';

const MARK = 'connection-mark';
const RATES = ['orig-rate', 'repl-rate'];

/** Names of marks and of VRFs in the compiled configuration. */
interface Names {
  readonly compiled: Pick<ConfigStore['compiled'], 'mark-names' | 'routing-tables'>;
}

/** The connections of a family, decoded cell by cell. */
export function connectionsView(store: Names, live: Pick<LiveState, 'connections'>, family: AddressFamily): View {
  const names: Readonly<Record<string, NumberNames>> = {
    [MARK]: new NumberNames(store, (compiled) => (compiled['mark-names'] ?? []).map(({ mark, name }) => [mark, name])),
    vrf: new NumberNames(store, (compiled) => [
      [0, MAIN_VRF],
      ...(compiled['routing-tables'] ?? []).flatMap(({ zone, name }) => (zone ? [[zone, name] as const] : [])),
    ]),
  };
  return async (maxAgeMs, isRequested) => {
    const dump = await live.connections(maxAgeMs, isRequested !== undefined && RATES.some(isRequested));
    if (dump === undefined) return UNAVAILABLE_ROWS;
    return new DumpRows(dump, await dump.snapshot.indicesOf(family, new TimeSlicer()), family, names);
  };
}

/**
 * Names of numbers in the data plane. Connections may have marks that no rule sets any more, or be of VRFs that are gone:
 * such numbers keep their former names.
 */
class NumberNames {
  readonly #store: Names;
  readonly #read: (compiled: Names['compiled']) => Iterable<readonly [number: number, name: string]>;
  readonly #names = new Map<string, string>();
  #seen: unknown;

  constructor(store: Names, read: (compiled: Names['compiled']) => Iterable<readonly [number: number, name: string]>) {
    this.#store = store;
    this.#read = read;
  }

  /** Name of a number; the number as text if there is none. */
  of(number: string): string {
    const { compiled } = this.#store;
    if (this.#seen !== compiled) {
      this.#seen = compiled;
      for (const [known, name] of this.#read(compiled)) this.#names.set(String(known), name);
    }
    return this.#names.get(number) ?? number;
  }
}

class DumpRows implements RowSet {
  readonly #dump: ConnectionDump;
  /** Indices in the table, ascending. */
  readonly #indices: Uint32Array;
  readonly #family: AddressFamily;
  readonly #names: Readonly<Record<string, NumberNames>>;

  constructor(
    dump: ConnectionDump,
    indices: Uint32Array,
    family: AddressFamily,
    names: Readonly<Record<string, NumberNames>>,
  ) {
    this.#dump = dump;
    this.#indices = indices;
    this.#family = family;
    this.#names = names;
  }

  get length(): number {
    return this.#indices.length;
  }

  #at(index: number): number {
    return this.#indices[index] ?? 0;
  }

  id(index: number): string {
    return this.#dump.value(this.#at(index), '.id') ?? '';
  }

  indexOf(id: string): number | undefined {
    const at = /^\*[0-9A-Fa-f]{1,16}$/.test(id) ? this.#dump.indexOf(BigInt(`0x${id.slice(1)}`)) : undefined;
    if (at === undefined) return undefined;
    let [from, to] = [0, this.#indices.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.#at(middle) < at) from = middle + 1;
      else to = middle;
    }
    return this.#indices[from] === at ? from : undefined;
  }

  prepareIds(slicer: TimeSlicer): Promise<void> {
    return this.#dump.prepareIds(slicer);
  }

  async prepareValues(isRequested: IsRequested, slicer: TimeSlicer): Promise<void> {
    if (RATES.some(isRequested)) await this.#dump.prepareRates(slicer);
  }

  value(index: number, property: string): string | undefined {
    const value = this.#dump.value(this.#at(index), property);
    const names = Object.hasOwn(this.#names, property) ? this.#names[property] : undefined;
    return value === undefined ? undefined : (names?.of(value) ?? value);
  }

  sortNumbers(column: string): ((index: number) => number) | undefined {
    // Addresses of IPv6 are too long for a number.
    if (this.#family === 'ipv6' && column.endsWith('-address')) return undefined;
    const read = this.#dump.sortNumbers(column);
    return read && ((index) => read(this.#at(index)));
  }

  row(index: number): RestRow {
    const row = this.#dump.row(this.#at(index));
    for (const [property, names] of Object.entries(this.#names)) {
      const value = row[property];
      if (value !== undefined) row[property] = names.of(value);
    }
    return row;
  }
}
