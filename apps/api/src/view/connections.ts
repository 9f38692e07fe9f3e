import type { AddressFamily } from '@tollway/schema';
import type { ConnectionDump } from '../agent/connections.js';
import type { ConfigStore } from '../config/store.js';
import { TimeSlicer } from '../scheduling/time-slicer.js';
import type { LiveState } from '../state/live-state.js';
import { type IsRequested, type RestRow, type RowSet, UNAVAILABLE_ROWS, type View } from './rows.js';

const RATES = ['orig-rate', 'repl-rate'];

/** Names of marks in the compiled configuration. */
interface Marks {
  readonly compiled: Pick<ConfigStore['compiled'], 'mark-names'>;
}

/** The connections of a family, decoded cell by cell. */
export function connectionsView(store: Marks, live: Pick<LiveState, 'connections'>, family: AddressFamily): View {
  const names = new MarkNames(store);
  return async (maxAgeMs, isRequested) => {
    const dump = await live.connections(maxAgeMs, isRequested !== undefined && RATES.some(isRequested));
    if (dump === undefined) return UNAVAILABLE_ROWS;
    return new DumpRows(dump, await dump.snapshot.indicesOf(family, new TimeSlicer()), family, names);
  };
}

const MARK = 'connection-mark';

/** Names of marks. Connections may have marks that no rule sets any more: such marks keep their former names. */
class MarkNames {
  readonly #store: Marks;
  readonly #names = new Map<string, string>();
  #seen: unknown;

  constructor(store: Marks) {
    this.#store = store;
  }

  /** Name of a mark by its number; the number as text if there is no such mark. */
  of(mark: string): string {
    const { compiled } = this.#store;
    if (this.#seen !== compiled) {
      this.#seen = compiled;
      for (const { mark: number, name } of compiled['mark-names'] ?? []) this.#names.set(String(number), name);
    }
    return this.#names.get(mark) ?? mark;
  }
}

class DumpRows implements RowSet {
  readonly #dump: ConnectionDump;
  /** Indices in the table, ascending. */
  readonly #indices: Uint32Array;
  readonly #family: AddressFamily;
  readonly #names: MarkNames;

  constructor(dump: ConnectionDump, indices: Uint32Array, family: AddressFamily, names: MarkNames) {
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
    return property === MARK && value !== undefined ? this.#names.of(value) : value;
  }

  sortNumbers(column: string): ((index: number) => number) | undefined {
    // Addresses of IPv6 are too long for a number.
    if (this.#family === 'ipv6' && column.endsWith('-address')) return undefined;
    const read = this.#dump.sortNumbers(column);
    return read && ((index) => read(this.#at(index)));
  }

  row(index: number): RestRow {
    const row = this.#dump.row(this.#at(index));
    const mark = row[MARK];
    if (mark !== undefined) row[MARK] = this.#names.of(mark);
    return row;
  }
}
