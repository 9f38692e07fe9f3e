import type { Ipv6NeighborInfo, StaticNeighbor } from '@tollway/dataplane-agent';
import { ipv6, ipv6Text } from '@tollway/schema';
import { AgentGone } from '../../agent/messages.js';
import { type CompileContext, requiredValue } from '../../compiler/context.js';
import { noIpv6Host, notUnicast } from '../../config/checks/addresses.js';
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

const MENU = '/ipv6/neighbor';

const addressOn: KeyOf = (values) => `${values.address} ${values.interface}`;

function checkNeighbor({ values, others }: ProposedRow): FieldError | undefined {
  const { address = '', interface: name } = values;
  const reason = noIpv6Host(ipv6(address) ?? 0n);
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

/** Static entries. */
function compileNeighbors(context: CompileContext): StaticNeighbor[] {
  return context.translate(MENU, (row) => ({
    row: row.id,
    interface: context.interfaces.row('interface', requiredValue(MENU, row, 'interface')),
    address: requiredValue(MENU, row, 'address'),
    'mac-address': requiredValue(MENU, row, 'mac-address').toLowerCase(),
    published: false,
  }));
}

type LearnedEntry = Pick<Ipv6NeighborInfo, 'interface' | 'address'>;

const ID = /^\*8([0-9A-F]{8})([0-9A-F]{32})$/i;

const hex = (value: number | bigint, digits: number): string => value.toString(16).toUpperCase().padStart(digits, '0');

/** `.id` of a learned entry: `*8`, the row of its interface and its address. */
const learnedId = ({ interface: row, address }: LearnedEntry): string =>
  `*8${hex(row, 8)}${hex(ipv6(address) ?? 0n, 32)}`;

/** The learned entry that an id denotes, whether it exists or not; undefined for any other text. */
function learnedEntry(id: string): LearnedEntry | undefined {
  const [, row, address] = ID.exec(id) ?? [];
  if (row === undefined || address === undefined) return undefined;
  return { interface: Number.parseInt(row, 16), address: ipv6Text(BigInt(`0x${address}`)) };
}

/** Learned entries that exist. @throws ApiError (`notFound`) for an id of another kind. */
async function findLearned(
  { live }: Services,
  items: readonly string[],
  notFound: (item: string) => ApiError,
): Promise<DynamicItems> {
  const known = await live.ipv6Neighbors(0);
  if (known === undefined) throw new AgentGone();
  const here = new Set(known.filter(({ row }) => row === 0).map(learnedId));
  const found = await new TimeSlicer().map(items, (item) => {
    const entry = learnedEntry(item);
    if (entry === undefined) throw notFound(item);
    return here.has(learnedId(entry)) ? entry : undefined;
  });
  const entries = found.filter((entry) => entry !== undefined);
  return {
    count: entries.length,
    remove: async () => {
      for (const entry of entries) await live.agent.request({ op: 'remove-ipv6-neighbor', ...entry });
    },
  };
}

/** States of the static entries, and the learned ones. */
const readNeighbors =
  (live: LiveState): ReadLive =>
  async (maxAgeMs) => {
    const known = await live.ipv6Neighbors(maxAgeMs);
    const byRow = new Map(known?.map((entry) => [entry.row, entry]));
    const learned = known?.filter(({ row }) => row === 0);
    return ({ snapshot }) => ({
      values: known && {
        properties: ['status', 'router'],
        value: (id, property) => {
          const entry = byRow.get(id);
          return property === 'status' ? entry?.status : yesNo(entry?.router === true);
        },
      },
      below: learned === undefined ? UNAVAILABLE_ROWS : new LearnedRows(learned, interfaceNames(snapshot)),
    });
  };

/** Learned entries. A scan of a network creates thousands of them: each row is built on access. */
class LearnedRows implements RowSet {
  readonly #entries: readonly Ipv6NeighborInfo[];
  readonly #names: ReadonlyMap<number, string | undefined>;

  /** @param names names of interfaces by their rows. */
  constructor(entries: readonly Ipv6NeighborInfo[], names: ReadonlyMap<number, string | undefined>) {
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
    const index = this.#entries.findIndex((entry) => learnedId(entry) === learnedId(wanted));
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
      interface: this.#names.get(entry.interface) ?? 'unknown',
      ...(mac && { 'mac-address': mac.toUpperCase() }),
      status: entry.status,
      disabled: 'false',
      dynamic: 'true',
      router: yesNo(entry.router),
    };
  }
}

export const ipv6Neighbor: MenuModule = {
  path: MENU,
  compile: (context) => ({ neighbors: compileNeighbors(context) }),
  check: checkNeighbor,
  liveRows: ({ live }) => readNeighbors(live),
  dynamic: { find: findLearned },
};
