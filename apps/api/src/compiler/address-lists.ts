import type { AddressList, AddressRange } from '@tollway/dataplane-agent';
import { ipv4Range, ipv4Text } from '@tollway/schema';
import type { Row } from '../snapshot/snapshot.js';
import { type CompileContext, requiredValue } from './context.js';
import { DependencyRecorder } from './dependency-recorder.js';
import { InvalidRow } from './invalid-row.js';

const MENU = '/ip/firewall/address-list';

/** An entry, and the list that it belongs to. */
interface Entry {
  readonly list: string;
  readonly range: AddressRange;
}

/**
 * Translated entries by row. An unchanged row is the same object, so that its translation and the cached hash are
 * reused.
 */
const translated = new WeakMap<Row, Entry>();

function entryOf(row: Row): Entry {
  let entry = translated.get(row);
  if (entry === undefined) {
    const list = requiredValue(MENU, row, 'list');
    entry = { list, range: addressRange('address', requiredValue(MENU, row, 'address')) };
    translated.set(row, entry);
  }
  return entry;
}

/** The address lists, grouped by name; rules name them by index. A list without entries matches nothing. */
export class AddressLists {
  readonly #index = new Map<string, number>();
  readonly #lists: AddressList[] = [];
  /** Lists that are looked up during a translation, by name and index. */
  readonly dependencies = new DependencyRecorder<readonly [string, number]>();

  private constructor(context: CompileContext) {
    for (const { list, range } of context.translate(MENU, entryOf))
      this.#lists[this.indexOf(list)]?.entries.push(range);
  }

  /** The lists of a configuration. */
  static readonly of = (context: CompileContext): AddressLists => new AddressLists(context);

  /** Index of a list; a name without entries gets an empty one. */
  indexOf(name: string): number {
    let index = this.#index.get(name);
    if (index === undefined) {
      index = this.#lists.push({ name, entries: [] }) - 1;
      this.#index.set(name, index);
    }
    this.dependencies.add([name, index]);
    return index;
  }

  compiled(): AddressList[] {
    return this.#lists;
  }
}

/** Range of an address, prefix or `a-b`. */
export function addressRange(property: string, text: string): AddressRange {
  const range = ipv4Range(text);
  if (!range) throw new InvalidRow(`${property}: ${text} is no address, prefix or range`);
  return { from: ipv4Text(range.from), to: ipv4Text(range.to) };
}
