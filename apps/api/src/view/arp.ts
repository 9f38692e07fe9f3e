import { ipv4Text, type Menu } from '@tollway/schema';
import type { NeighborInfo } from '../agent/messages.js';
import type { ConfigStore } from '../config/store.js';
import { interfaceNames } from '../snapshot/interfaces.js';
import type { LiveState } from '../state/live-state.js';
import { JoinedRows } from './joined-rows.js';
import { type RestRow, type RowSet, UNAVAILABLE_ROWS, type View, yesNo } from './rows.js';
import { StoredParts, StoredRows } from './stored-rows.js';

type LearnedEntry = Pick<NeighborInfo, 'interface' | 'address'>;

const ID = /^\*8([0-9A-F]{8})([0-9A-F]{8})$/i;

const hex = (value: number): string => value.toString(16).toUpperCase().padStart(8, '0');

/** `.id` of a learned entry: `*8`, its interface's row and its address, so that it is no other's after a restart. */
export const learnedId = ({ interface: row, address }: LearnedEntry): string =>
  `*8${hex(row)}${hex(address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0))}`;

/** The learned entry that an id names, whether it is there or not; undefined for any other text. */
export function learnedEntry(id: string): LearnedEntry | undefined {
  const [, row, address] = ID.exec(id) ?? [];
  if (row === undefined || address === undefined) return undefined;
  return { interface: Number.parseInt(row, 16), address: ipv4Text(Number.parseInt(address, 16)) };
}

/** Static ARP entries, then the learned ones. */
export function arpView(menu: Menu, store: ConfigStore, live: LiveState): View {
  const parts = new StoredParts(menu);
  return async (maxAgeMs) => {
    const known = await live.neighbors(maxAgeMs);
    const { snapshot, invalid } = store;
    const { byRow, learned } = entriesOf(known ?? NO_NEIGHBORS);
    const stored = new StoredRows(
      snapshot.get(menu.path) ?? [],
      (row) => parts.of(row, invalid.get(row.id)),
      known && {
        properties: ['complete', 'status'],
        value: (id, property) => (property === 'complete' ? yesNo(byRow.has(id)) : byRow.get(id)?.status),
      },
    );
    const names = interfaceNames(snapshot);
    return new JoinedRows(stored, known === undefined ? UNAVAILABLE_ROWS : new LearnedRows(learned, names));
  };
}

interface Entries {
  /** Neighbours of static entries. */
  readonly byRow: ReadonlyMap<number, NeighborInfo>;
  readonly learned: readonly NeighborInfo[];
}

const NO_NEIGHBORS: readonly NeighborInfo[] = [];
/** Entries of each reading, made once, however many look at it. */
const readings = new WeakMap<readonly NeighborInfo[], Entries>();

function entriesOf(reading: readonly NeighborInfo[]): Entries {
  const known = readings.get(reading);
  if (known !== undefined) return known;
  const byRow = new Map<number, NeighborInfo>();
  const learned: NeighborInfo[] = [];
  for (const entry of reading) {
    if (entry.row === 0) learned.push(entry);
    else byRow.set(entry.row, entry);
  }
  readings.set(reading, { byRow, learned });
  return { byRow, learned };
}

/** Learned entries. A scan of a network makes thousands: each is put together when it is looked at. */
class LearnedRows implements RowSet {
  readonly #entries: readonly NeighborInfo[];
  readonly #names: ReadonlyMap<number, string | undefined>;

  /** @param names of interfaces, by their rows. */
  constructor(entries: readonly NeighborInfo[], names: ReadonlyMap<number, string | undefined>) {
    this.#entries = entries;
    this.#names = names;
  }

  get length(): number {
    return this.#entries.length;
  }

  id(index: number): string {
    const entry = this.#entries[index];
    return entry === undefined ? '' : learnedId(entry);
  }

  indexOf(id: string): number | undefined {
    const wanted = learnedEntry(id);
    if (wanted === undefined) return undefined;
    const { interface: row, address } = wanted;
    const index = this.#entries.findIndex((entry) => entry.interface === row && entry.address === address);
    return index < 0 ? undefined : index;
  }

  value(index: number, property: string): string | undefined {
    const row = this.row(index);
    return Object.hasOwn(row, property) ? row[property] : undefined;
  }

  row(index: number): RestRow {
    const entry = this.#entries[index];
    if (entry === undefined) return {};
    const mac = entry['mac-address'];
    return {
      '.id': learnedId(entry),
      address: entry.address,
      ...(mac && { 'mac-address': mac.toUpperCase() }),
      interface: this.#names.get(entry.interface) ?? 'unknown',
      published: 'false',
      status: entry.status,
      disabled: 'false',
      invalid: 'false',
      dynamic: 'true',
      complete: yesNo(Boolean(mac)),
    };
  }
}
