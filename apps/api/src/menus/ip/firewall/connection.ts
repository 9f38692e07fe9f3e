import type { ConnectionDump } from '../../../agent/connections.js';
import { AgentGone } from '../../../agent/messages.js';
import type { ConfigStore } from '../../../config/store.js';
import type { ApiError } from '../../../errors.js';
import { TimeSlicer } from '../../../scheduling/time-slicer.js';
import type { DynamicItems, Services } from '../../../services.js';
import type { LiveState } from '../../../state/live-state.js';
import { type IsRequested, type RestRow, type RowSet, UNAVAILABLE_ROWS, type View } from '../../../view/rows.js';
import type { MenuModule } from '../../module.js';

/** Connections that exist. @throws ApiError (`notFound`) for an id of another kind. */
async function findConnections(
  { live }: Services,
  items: readonly string[],
  notFound: (item: string) => ApiError,
): Promise<DynamicItems> {
  const dump = await live.connections();
  if (dump === undefined) throw new AgentGone();
  const slicer = new TimeSlicer();
  await dump.prepareIds(slicer);
  const found = await slicer.map(items, (item) => {
    if (!/^\*[0-9A-Fa-f]{1,16}$/.test(item)) throw notFound(item);
    const id = BigInt(`0x${item.slice(1)}`);
    return dump.indexOf(id) === undefined ? undefined : id;
  });
  const ids = found.filter((id) => id !== undefined);
  return { count: ids.length, remove: () => live.agent.request({ op: 'remove-connections', ids }) };
}

const RATES = ['orig-rate', 'repl-rate'];

/** Names of marks in the compiled configuration. */
interface Marks {
  readonly compiled: Pick<ConfigStore['compiled'], 'mark-names'>;
}

/** The connection table, decoded cell by cell. */
export function connectionsView(store: Marks, live: Pick<LiveState, 'connections'>): View {
  const names = new MarkNames(store);
  return async (maxAgeMs, isRequested) => {
    const dump = await live.connections(maxAgeMs, isRequested !== undefined && RATES.some(isRequested));
    return dump === undefined ? UNAVAILABLE_ROWS : new DumpRows(dump, names);
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
  readonly #names: MarkNames;

  constructor(dump: ConnectionDump, names: MarkNames) {
    this.#dump = dump;
    this.#names = names;
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

  prepareIds(slicer: TimeSlicer): Promise<void> {
    return this.#dump.prepareIds(slicer);
  }

  async prepareValues(isRequested: IsRequested, slicer: TimeSlicer): Promise<void> {
    if (RATES.some(isRequested)) await this.#dump.prepareRates(slicer);
  }

  value(index: number, property: string): string | undefined {
    const value = this.#dump.value(index, property);
    return property === MARK && value !== undefined ? this.#names.of(value) : value;
  }

  sortNumbers(column: string): ((index: number) => number) | undefined {
    return this.#dump.sortNumbers(column);
  }

  row(index: number): RestRow {
    const row = this.#dump.row(index);
    const mark = row[MARK];
    if (mark !== undefined) row[MARK] = this.#names.of(mark);
    return row;
  }
}

export const firewallConnection: MenuModule = {
  path: '/ip/firewall/connection',
  view: (_, { store, live }) => connectionsView(store, live),
  dynamic: { find: findConnections },
};
