import type { StaticNeighbor } from '@tollway/dataplane-agent';
import { ipv4Prefix, ipv4Text } from '@tollway/schema';
import { AgentGone, type NeighborInfo } from '../../agent/messages.js';
import { type CompileContext, requiredValue } from '../../compiler/context.js';
import { noHost, notUnicast } from '../../config/checks/addresses.js';
import { type FieldError, fieldError, type ProposedRow } from '../../config/proposed-row.js';
import type { ApiError } from '../../errors.js';
import { TimeSlicer } from '../../scheduling/time-slicer.js';
import type { DynamicItems, Services } from '../../services.js';
import { interfaceNames } from '../../snapshot/interfaces.js';
import type { KeyOf } from '../../snapshot/rows-by-key.js';
import type { LiveState } from '../../state/live-state.js';
import type { ReadLive } from '../../view/live-rows.js';
import { type RestRow, type RowSet, UNAVAILABLE_ROWS, yesNo } from '../../view/rows.js';
import type { MenuModule } from '../module.js';

const MENU = '/ip/arp';

const addressOn: KeyOf = (values) => `${values.address} ${values.interface}`;

function checkArp({ values, others }: ProposedRow): FieldError | undefined {
  const { address, interface: name } = values;
  const reason = noHost(ipv4Prefix(address ?? '')?.address ?? 0);
  if (reason) return fieldError('address', `value of address: ${address} is ${reason}; give the address of a host`);
  if (others.has(addressOn, `${address} ${name}`)) {
    return fieldError(
      'address',
      `failure: already have such entry: ${address} on ${name} (value of address must be unique there)`,
    );
  }
  const mac = notUnicast(values['mac-address'] ?? '');
  return mac ? fieldError('mac-address', mac) : undefined;
}

/** Static ARP entries. */
function compileNeighbors(context: CompileContext): StaticNeighbor[] {
  return context.translate(MENU, (row) => ({
    row: row.id,
    interface: context.interfaces.row('interface', requiredValue(MENU, row, 'interface')),
    address: requiredValue(MENU, row, 'address'),
    'mac-address': requiredValue(MENU, row, 'mac-address').toLowerCase(),
    published: requiredValue(MENU, row, 'published') === 'true',
  }));
}

type LearnedEntry = Pick<NeighborInfo, 'interface' | 'address'>;

const ID = /^\*8([0-9A-F]{8})([0-9A-F]{8})$/i;

const hex = (value: number): string => value.toString(16).toUpperCase().padStart(8, '0');

/**
 * `.id` of a learned entry: `*8`, the row of its interface and its address. So another entry cannot get it after a
 * restart.
 */
const learnedId = ({ interface: row, address }: LearnedEntry): string =>
  `*8${hex(row)}${hex(address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0))}`;

/** The learned entry that an id denotes, whether it exists or not; undefined for any other text. */
function learnedEntry(id: string): LearnedEntry | undefined {
  const [, row, address] = ID.exec(id) ?? [];
  if (row === undefined || address === undefined) return undefined;
  return { interface: Number.parseInt(row, 16), address: ipv4Text(Number.parseInt(address, 16)) };
}

/** Learned ARP entries that exist. @throws ApiError (`notFound`) for an id of another kind. */
async function findLearned(
  { live }: Services,
  items: readonly string[],
  notFound: (item: string) => ApiError,
): Promise<DynamicItems> {
  const learned = await live.neighbors(0);
  if (learned === undefined) throw new AgentGone();
  const here = new Set(learned.filter(({ row }) => row === 0).map(learnedId));
  const found = await new TimeSlicer().map(items, (item) => {
    const entry = learnedEntry(item);
    if (entry === undefined) throw notFound(item);
    return here.has(learnedId(entry)) ? entry : undefined;
  });
  const entries = found.filter((entry) => entry !== undefined);
  return {
    count: entries.length,
    remove: async () => {
      for (const entry of entries) await live.agent.request({ op: 'remove-neighbor', ...entry });
    },
  };
}

/** States of the static entries, and the learned ones. */
const readNeighbors =
  (live: LiveState): ReadLive =>
  async (maxAgeMs) => {
    const known = await live.neighbors(maxAgeMs);
    const { byRow, learned } = entriesOf(known ?? NO_NEIGHBORS);
    return ({ snapshot }) => ({
      values: known && {
        properties: ['complete', 'status'],
        value: (id, property) => (property === 'complete' ? yesNo(byRow.has(id)) : byRow.get(id)?.status),
      },
      below: known === undefined ? UNAVAILABLE_ROWS : new LearnedRows(learned, interfaceNames(snapshot)),
    });
  };

interface Entries {
  /** Neighbours of static entries. */
  readonly byRow: ReadonlyMap<number, NeighborInfo>;
  readonly learned: readonly NeighborInfo[];
}

const NO_NEIGHBORS: readonly NeighborInfo[] = [];
/** Entries of each reading, built once for all views of it. */
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

/** Learned entries. A network scan creates thousands of them: each row is built on access. */
class LearnedRows implements RowSet {
  readonly #entries: readonly NeighborInfo[];
  readonly #names: ReadonlyMap<number, string | undefined>;

  /** @param names names of interfaces by their rows. */
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

export const ipArp: MenuModule = {
  path: '/ip/arp',
  compile: (context) => ({ neighbors: compileNeighbors(context) }),
  check: checkArp,
  liveRows: ({ live }) => readNeighbors(live),
  dynamic: { find: findLearned },
};
