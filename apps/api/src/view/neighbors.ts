import { ADDRESS_BITS, type AddressFamily, addressNumber, addressText } from '@tollway/schema';
import type { Neighbor } from '../agent/messages.js';
import { interfaceNames } from '../snapshot/interfaces.js';
import { vrfNames } from '../snapshot/vrfs.js';
import type { LiveState } from '../state/live-state.js';
import type { ReadLive } from './live-rows.js';
import { type RestRow, type RowSet, UNAVAILABLE_ROWS, yesNo } from './rows.js';

/** What tells learned neighbours apart. */
export type LearnedNeighbor = Pick<Neighbor, 'interface' | 'address'>;

const ID = /^\*8([0-9A-F]{8})([0-9A-F]+)$/i;

const hex = (value: number | bigint, digits: number): string => value.toString(16).toUpperCase().padStart(digits, '0');

/**
 * `.id` of a learned neighbour: `*8`, the row of its interface and its address. So another one cannot get it after a
 * restart.
 */
export function learnedId({ interface: row, address }: LearnedNeighbor, family: AddressFamily): string {
  return `*8${hex(row, 8)}${hex(addressNumber(address, family) ?? 0n, ADDRESS_BITS[family] / 4)}`;
}

/** The learned neighbour that an id denotes, whether it exists or not; undefined for any other text. */
export function learnedNeighbor(id: string, family: AddressFamily): LearnedNeighbor | undefined {
  const [, row, address] = ID.exec(id) ?? [];
  if (row === undefined || address?.length !== ADDRESS_BITS[family] / 4) return undefined;
  return { interface: Number.parseInt(row, 16), address: addressText(BigInt(`0x${address}`), family) };
}

/** States of the static entries of a family, and the learned ones. */
export const readNeighbors =
  (live: LiveState, family: AddressFamily): ReadLive =>
  async (maxAgeMs) => {
    const known = await live.neighbors(family, maxAgeMs);
    const { byRow, learned } = entriesOf(known ?? NO_NEIGHBORS);
    const state = STATES[family];
    return ({ snapshot, rows }) => {
      const vrfOf = vrfNames(snapshot);
      const interfaces = new Map(rows.map(({ id, values }) => [id, values.interface]));
      const value = (id: number, property: string) => {
        if (property === 'vrf') return vrfOf(interfaces.get(id));
        return property === 'status' ? byRow.get(id)?.status : state.value(byRow.get(id));
      };
      return {
        values: { properties: known === undefined ? ['vrf'] : ['vrf', 'status', state.property], value },
        below:
          known === undefined ? UNAVAILABLE_ROWS : new LearnedRows(learned, interfaceNames(snapshot), vrfOf, family),
      };
    };
  };

interface Entries {
  /** Neighbours of static entries. */
  readonly byRow: ReadonlyMap<number, Neighbor>;
  readonly learned: readonly Neighbor[];
}

const NO_NEIGHBORS: readonly Neighbor[] = [];
/** Entries of each reading, built once for all views of it. */
const readings = new WeakMap<readonly Neighbor[], Entries>();

function entriesOf(reading: readonly Neighbor[]): Entries {
  const known = readings.get(reading);
  if (known !== undefined) return known;
  const byRow = new Map<number, Neighbor>();
  const learned: Neighbor[] = [];
  for (const entry of reading) {
    if (entry.row === 0) learned.push(entry);
    else byRow.set(entry.row, entry);
  }
  readings.set(reading, { byRow, learned });
  return { byRow, learned };
}

/** What the neighbours of a family have beside what both have: one property with a state, and constants of learned ones. */
interface FamilyState {
  readonly property: string;
  /** The state of a static entry, which the data plane may not have. */
  value(entry: Neighbor | undefined): 'true' | 'false';
  learned(entry: Neighbor): RestRow;
}

const STATES: Readonly<Record<AddressFamily, FamilyState>> = {
  ip: {
    property: 'complete',
    value: (entry) => yesNo(entry !== undefined),
    learned: (entry) => ({ published: 'false', invalid: 'false', complete: yesNo(Boolean(entry['mac-address'])) }),
  },
  ipv6: {
    property: 'router',
    value: (entry) => yesNo(entry?.router === true),
    learned: (entry) => ({ router: yesNo(entry.router === true) }),
  },
};

/** Learned entries. A network scan creates thousands of them: each row is built on access. */
class LearnedRows implements RowSet {
  readonly #entries: readonly Neighbor[];
  readonly #names: ReadonlyMap<number, string | undefined>;
  readonly #vrfOf: (name: string | undefined) => string;
  readonly #family: AddressFamily;

  /**
   * @param names names of interfaces by their rows.
   * @param vrfOf names of VRFs by those of interfaces.
   */
  constructor(
    entries: readonly Neighbor[],
    names: ReadonlyMap<number, string | undefined>,
    vrfOf: (name: string | undefined) => string,
    family: AddressFamily,
  ) {
    this.#entries = entries;
    this.#names = names;
    this.#vrfOf = vrfOf;
    this.#family = family;
  }

  get length(): number {
    return this.#entries.length;
  }

  id(index: number): string {
    const entry = this.#entries[index];
    return entry === undefined ? '' : learnedId(entry, this.#family);
  }

  indexOf(id: string): number | undefined {
    const wanted = learnedNeighbor(id, this.#family);
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
    const name = this.#names.get(entry.interface);
    return {
      '.id': learnedId(entry, this.#family),
      address: entry.address,
      ...(mac && { 'mac-address': mac.toUpperCase() }),
      interface: name ?? 'unknown',
      vrf: this.#vrfOf(name),
      status: entry.status,
      disabled: 'false',
      dynamic: 'true',
      ...STATES[this.#family].learned(entry),
    };
  }
}
