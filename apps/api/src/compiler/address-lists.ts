import type { AddressList, AddressRange } from '@tollway/dataplane-agent';
import { type AddressFamily, ipv4Range, ipv4Text, ipv6Range, ipv6Text } from '@tollway/schema';
import type { Row } from '../snapshot/snapshot.js';
import { type CompileContext, requiredValue } from './context.js';
import { DependencyRecorder } from './dependency-recorder.js';
import { InvalidRow } from './invalid-row.js';

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

function entryOf(menu: string, row: Row): Entry {
  let entry = translated.get(row);
  if (entry === undefined) {
    const list = requiredValue(menu, row, 'list');
    entry = { list, range: addressRange('address', requiredValue(menu, row, 'address')) };
    translated.set(row, entry);
  }
  return entry;
}

/** The address lists of a family, grouped by name; rules name them by index. A list without entries matches nothing. */
export class AddressLists {
  readonly #index = new Map<string, number>();
  readonly #lists: AddressList[] = [];
  /** Lists that are looked up during a translation, by name and index. */
  readonly dependencies = new DependencyRecorder<readonly [string, number]>();

  private constructor(context: CompileContext, family: AddressFamily) {
    const menu = `/${family}/firewall/address-list`;
    for (const { list, range } of context.translate(menu, (row) => entryOf(menu, row)))
      this.#lists[this.indexOf(list)]?.entries.push(range);
  }

  static readonly #ofFamily = {
    ip: (context: CompileContext) => new AddressLists(context, 'ip'),
    ipv6: (context: CompileContext) => new AddressLists(context, 'ipv6'),
  } as const;

  /** The lists of a family in a configuration. */
  static of(context: CompileContext, family: AddressFamily): AddressLists {
    return context.once(AddressLists.#ofFamily[family]);
  }

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
  const six = ipv6Range(text);
  if (six !== undefined) return { from: ipv6Text(six.first), to: ipv6Text(six.last) };
  const range = ipv4Range(text);
  if (!range) throw new InvalidRow(`${property}: ${text} is no address, prefix or range`);
  return { from: ipv4Text(range.from), to: ipv4Text(range.to) };
}
