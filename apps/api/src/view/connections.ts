import type { ConnectionDump } from '../agent/connections.js';
import type { LiveState } from '../state/live-state.js';
import { ArrayRows, type RestRow, type RowSet, type View } from './rows.js';

/** The connection table, decoded cell by cell. */
export function connectionsView(live: LiveState): View {
  return async (maxAgeMs) => {
    const dump = await live.connections(maxAgeMs);
    return dump === undefined ? new ArrayRows([]) : new DumpRows(dump);
  };
}

class DumpRows implements RowSet {
  readonly #dump: ConnectionDump;

  constructor(dump: ConnectionDump) {
    this.#dump = dump;
  }

  get length(): number {
    return this.#dump.count;
  }

  id(index: number): string {
    return this.#dump.value(index, '.id') ?? '';
  }

  indexOf(id: string): number | undefined {
    return /^\*[0-9A-Fa-f]{1,16}$/.test(id) ? this.#dump.indexOf(BigInt(`0x${id.slice(1)}`)) : undefined;
  }

  value(index: number, property: string): string | undefined {
    return this.#dump.value(index, property);
  }

  numbers(column: string): ((index: number) => number) | undefined {
    return this.#dump.numbers(column);
  }

  row(index: number): RestRow {
    return this.#dump.row(index);
  }

  all(): readonly RestRow[] {
    return Array.from({ length: this.#dump.count }, (_, index) => this.#dump.row(index));
  }
}
