/** Address lists of both families. Entries with a timeout are held by the data plane: they are not stored and make no revision. */
import { type AddressFamily, durationMs, type Menu } from '@tollway/schema';
import type { AddressListDump } from '../agent/address-list-entries.js';
import { AgentGone, type DynamicAddress } from '../agent/messages.js';
import { AddressLists } from '../compiler/address-lists.js';
import type { CompileContext } from '../compiler/context.js';
import { type Arguments, verifiedContent } from '../config/content.js';
import { type FieldError, fieldError, type ProposedRow } from '../config/proposed-row.js';
import { verifyAdd } from '../config/verify.js';
import { ApiError, errors } from '../errors.js';
import { TimeSlicer } from '../scheduling/time-slicer.js';
import type { DynamicItems, Services } from '../services.js';
import { type KeyOf, RowsByKey } from '../snapshot/rows-by-key.js';
import { rowsOf } from '../snapshot/snapshot.js';
import type { LiveState } from '../state/live-state.js';
import type { ReadLive } from '../view/live-rows.js';
import { type RestRow, type RowSet, UNAVAILABLE_ROWS } from '../view/rows.js';

const addressIn: KeyOf = (values) => `${values.address} ${values.list}`;

function checkAddressListEntry({ values, others }: ProposedRow): FieldError | undefined {
  const { list, address } = values;
  if (!others.has(addressIn, `${address} ${list}`)) return undefined;
  return fieldError(
    'address',
    `failure: already have such entry: ${address} in ${list} (value of address must be unique in a list)`,
  );
}

/** Whether the arguments describe an entry with a timeout. */
const hasTimeout = (args: Arguments): boolean => args.timeout !== undefined && args.timeout !== '';

/** @throws ApiError: a stored entry has no timeout. */
function refuseTimeout(args: Arguments): void {
  if (!hasTimeout(args)) return;
  throw errors.badProperty('timeout', 'value of timeout: it can be given only when an entry is added');
}

/** Adds entries, all of them or none; the timeouts of existing entries restart. Returns their `.id`s. */
async function addDynamicEntries({ store, live }: Services, menu: Menu, list: readonly Arguments[]): Promise<string[]> {
  const rows = new RowsByKey(rowsOf(store.snapshot, menu.path));
  const slicer = new TimeSlicer();
  await rows.prepare(addressIn, slicer);
  const entries = await slicer.map(list, (args, index): DynamicAddress => {
    try {
      return dynamicEntry(
        args,
        verifiedContent(verifyAdd(store.checks, menu, args, store.snapshot, { path: menu.path, rows })),
      );
    } catch (error) {
      throw error instanceof ApiError && list.length > 1 ? errors.inElement(index, error) : error;
    }
  });
  await live.agent.request({ op: 'add-address-list-entries', entries });
  return slicer.map(entries, (entry) =>
    live.entryMemory.idOf({ list: entry.list, address: entry.address, prefixLen: entry['prefix-len'] }),
  );
}

function dynamicEntry(
  args: Arguments,
  { values, disabled, comment }: ReturnType<typeof verifiedContent>,
): DynamicAddress {
  if (!hasTimeout(args)) {
    throw errors.badProperty('timeout', 'timeout is required: other elements of the list have one, all or none must');
  }
  if (disabled) throw errors.badProperty('disabled', 'value of disabled: an entry with a timeout is always in force');
  if (comment !== '') throw errors.badProperty('comment', 'value of comment: an entry with a timeout has none');
  const { list = '', address = '', timeout = '' } = values;
  if (address.includes('-')) {
    throw errors.badProperty(
      'address',
      `value of address: ${address} is no prefix; with a timeout give an address or a prefix`,
    );
  }
  const [first = '', length = address.includes(':') ? '128' : '32'] = address.split('/');
  return { list, address: first, 'prefix-len': Number(length), 'timeout-ms': durationMs(timeout) ?? 0 };
}

/** Whether an address is one of a family. */
const isOf = (family: AddressFamily, address: string): boolean => address.includes(':') === (family === 'ipv6');

/** Entries with a timeout that exist. @throws ApiError (`notFound`) for an id of another kind or family. */
async function findDynamicEntries(
  family: AddressFamily,
  { live }: Services,
  items: readonly string[],
  notFound: (item: string) => ApiError,
): Promise<DynamicItems> {
  const slicer = new TimeSlicer();
  const named = await slicer.map(items, (item) => {
    const entry = live.entryMemory.entryOf(item);
    if (entry === undefined || !isOf(family, entry.address)) throw notFound(item);
    return { id: item.toUpperCase(), entry };
  });
  const dump = await live.addressLists();
  if (dump === undefined) throw new AgentGone();
  const here = await dump.present(items, slicer);
  const entries = named.flatMap(({ id, entry: { list, address, prefixLen } }): DynamicAddress[] =>
    here.has(id) ? [{ list, address, 'prefix-len': prefixLen, 'timeout-ms': 0 }] : [],
  );
  return {
    count: entries.length,
    remove: () => live.agent.request({ op: 'remove-address-list-entries', entries }),
  };
}

/** The entries of a family in one reading of those that rules and users added with a timeout. */
class DynamicEntries implements RowSet {
  readonly #dump: AddressListDump;
  /** Their places in the reading, ascending; undefined where all are of the family. */
  readonly #places: Uint32Array | undefined;

  constructor(dump: AddressListDump, family: AddressFamily) {
    this.#dump = dump;
    this.#places = dump.placesOf(family === 'ipv6' ? 6 : 4);
  }

  get length(): number {
    return this.#places?.length ?? this.#dump.count;
  }

  /** Place in the reading; beyond its end for none. */
  #place(index: number): number {
    return this.#places === undefined ? index : (this.#places[index] ?? this.#dump.count);
  }

  id(index: number): string {
    return this.#dump.id(this.#place(index));
  }

  indexOf(id: string): number | undefined {
    const place = this.#dump.indexOf(id);
    if (place === undefined || this.#places === undefined) return place;
    const index = this.#places.indexOf(place);
    return index < 0 ? undefined : index;
  }

  async distinct(property: string): Promise<readonly string[] | undefined> {
    return property === 'list' && this.#places === undefined ? this.#dump.lists : undefined;
  }

  value(index: number, property: string): string | undefined {
    return this.#dump.value(this.#place(index), property);
  }

  row(index: number): RestRow {
    return this.#dump.row(this.#place(index));
  }
}

/** The part of their modules that the address lists of both families have in common. */
export const addressListsOf = (family: AddressFamily) => ({
  compiled: (context: CompileContext) => AddressLists.of(context, family).compiled(),
  check: checkAddressListEntry,
  keys: [addressIn],
  liveRows:
    ({ live }: { readonly live: LiveState }): ReadLive =>
    async (maxAgeMs) => {
      const dump = await live.addressLists(maxAgeMs);
      return () => ({ below: dump === undefined ? UNAVAILABLE_ROWS : new DynamicEntries(dump, family) });
    },
  dynamic: {
    find: (services: Services, items: readonly string[], notFound: (item: string) => ApiError) =>
      findDynamicEntries(family, services, items, notFound),
    addsDynamic: hasTimeout,
    add: addDynamicEntries,
    refuse: refuseTimeout,
  },
});
