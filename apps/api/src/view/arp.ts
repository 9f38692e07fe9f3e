import type { Menu } from '@tollway/schema';
import type { NeighborInfo } from '../agent/messages.js';
import { ETHERNET } from '../config/ports.js';
import { FIRST_DYNAMIC_ROW, rowIdText } from '../config/snapshot.js';
import type { ConfigStore } from '../config/store.js';
import type { LiveState } from '../state/live-state.js';
import { ArrayRows, type RestRow, type View, yesNo } from './rows.js';
import { storedRow } from './stored.js';

/** Ids of learned entries, kept for as long as an entry lives and not given again soon. */
export class LearnedIds {
  readonly #ids = new Map<string, number>();
  #next = FIRST_DYNAMIC_ROW;

  /** Id of each entry, in their order; entries that are gone lose theirs. */
  assign(entries: readonly NeighborInfo[]): number[] {
    const keys = entries.map((entry) => `${entry.interface} ${entry.address}`);
    const alive = new Set(keys);
    for (const key of this.#ids.keys()) if (!alive.has(key)) this.#ids.delete(key);
    return keys.map((key) => {
      const id = this.#ids.get(key) ?? this.#next;
      if (id === this.#next) {
        this.#ids.set(key, id);
        this.#next = this.#next >= 0xffff_ffff ? FIRST_DYNAMIC_ROW : this.#next + 1;
      }
      return id;
    });
  }

  /** Interface row and address of a learned entry. */
  find(id: number): { interface: number; address: string } | undefined {
    for (const [key, value] of this.#ids) {
      const [row = '', address = ''] = key.split(' ');
      if (value === id) return { interface: Number(row), address };
    }
    return undefined;
  }
}

/** Static ARP entries, then the learned ones. */
export function arpView(menu: Menu, store: ConfigStore, live: LiveState, ids: LearnedIds): View {
  return async (maxAgeMs) => {
    const neighbors = (await live.neighbors(maxAgeMs)) ?? [];
    const byRow = new Map(neighbors.filter((entry) => entry.row !== 0).map((entry) => [entry.row, entry]));
    const stored = (store.snapshot.get(menu.path) ?? []).map((row): RestRow => {
      const rest = storedRow(menu, row, store.invalid.get(row.id));
      const info = byRow.get(row.id);
      return { ...rest, complete: yesNo(info !== undefined), ...(info !== undefined && { status: info.status }) };
    });
    const names = new Map((store.snapshot.get(ETHERNET) ?? []).map((row) => [row.id, row.values.name]));
    const learned = neighbors.filter((entry) => entry.row === 0);
    const learnedIds = ids.assign(learned);
    return new ArrayRows([
      ...stored,
      ...learned.map((entry, index): RestRow => {
        const mac = entry['mac-address'];
        return {
          // assign() returns one id per entry.
          '.id': rowIdText(learnedIds[index] ?? 0),
          address: entry.address,
          ...(mac && { 'mac-address': mac.toUpperCase() }),
          interface: names.get(entry.interface) ?? 'unknown',
          published: 'false',
          status: entry.status,
          disabled: 'false',
          invalid: 'false',
          dynamic: 'true',
          complete: yesNo(Boolean(mac)),
        };
      }),
    ]);
  };
}
