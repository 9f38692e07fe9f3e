import { menuByPath } from '@tollway/schema';
import { interfaceMenus, interfaceName, typedInterfaces } from '../snapshot/interfaces.js';
import type { ConfigSnapshot } from '../snapshot/snapshot.js';
import { rowsOf } from '../snapshot/snapshot.js';
import { InvalidRow } from './invalid-row.js';

const LISTS = '/interface/list';
const MEMBERS = '/interface/list/member';

/** Whether a list is one of the router's own, e.g. `none`, which is empty on purpose. */
export function isBuiltinList(name: string): boolean {
  return menuByPath(LISTS)?.builtin?.some((list) => list.values.name === name) === true;
}

/** Resolves names of interfaces and of interface lists to rows of interfaces of whatever type. */
export class InterfaceNames {
  readonly #byName: ReadonlyMap<string, number>;
  readonly #snapshot: ConfigSnapshot;
  /** Rows of all interfaces of a type, by the word that stands for them. */
  readonly #groups: ReadonlyMap<string, readonly number[]>;
  readonly #lists = new Map<string, readonly number[]>();

  static #last: InterfaceNames | undefined;

  /** Cached: the same object while interfaces, lists and members are unchanged. */
  static of(snapshot: ConfigSnapshot): InterfaceNames {
    const last = InterfaceNames.#last;
    const menus = [...interfaceMenus, LISTS, MEMBERS];
    if (last !== undefined && menus.every((menu) => last.#snapshot.get(menu) === snapshot.get(menu))) return last;
    // A copy of these menus alone, so that the rest of the snapshot can be collected.
    const own = new Map(menus.flatMap((menu) => (snapshot.has(menu) ? [[menu, rowsOf(snapshot, menu)] as const] : [])));
    InterfaceNames.#last = new InterfaceNames(own);
    return InterfaceNames.#last;
  }

  private constructor(snapshot: ConfigSnapshot) {
    this.#snapshot = snapshot;
    const interfaces = typedInterfaces(snapshot);
    this.#byName = new Map(interfaces.map(({ row }) => [interfaceName(row), row.id]));
    const of = (wanted: string) => interfaces.flatMap(({ row, type }) => (type === wanted ? [row.id] : []));
    this.#groups = new Map([
      ['all-ethernet', of('ether')],
      ['all-vlan', of('vlan')],
    ]);
  }

  /** Row of the interface of a name; undefined when there is none. */
  find(name: string): number | undefined {
    return this.#byName.get(name);
  }

  /** Row of the interface that a property names. @throws InvalidRow, naming the property, when there is none. */
  row(property: string, name: string): number {
    const row = this.find(name);
    if (row === undefined) throw new InvalidRow(`${property}: there is no interface ${name}`);
    return row;
  }

  /** Rows of the interfaces that a condition names, by a name or as all of a type. @throws InvalidRow as {@link row} does. */
  rows(property: string, name: string): number[] {
    return [...(this.#groups.get(name) ?? [this.row(property, name)])];
  }

  /**
   * Rows of the interfaces in a list, in the order of the interfaces: those of the included lists, without
   * those of the excluded ones, and its own members. Undefined when there is no such list.
   */
  list(name: string): readonly number[] | undefined {
    const known = this.#lists.get(name);
    if (known) return known;
    const members = this.#expand(name, new Set());
    if (!members) return undefined;
    const rows = this.#all().filter((row) => members.has(row));
    this.#lists.set(name, rows);
    return rows;
  }

  #all(): number[] {
    return [...this.#byName.values()];
  }

  /** A cyclic include contributes nothing. */
  #expand(name: string, path: ReadonlySet<string>): ReadonlySet<number> | undefined {
    if (path.has(name)) return new Set();
    if (isBuiltinList(name)) {
      return new Set(name === 'all' || name === 'static' ? this.#all() : []);
    }
    const list = rowsOf(this.#snapshot, LISTS).find((row) => row.values.name === name);
    if (!list) return undefined;
    const inner = new Set([...path, name]);
    const of = (property: string): number[] =>
      (list.values[property] ?? '')
        .split(',')
        .filter((part) => part !== '')
        .flatMap((part) => [...(this.#expand(part, inner) ?? [])]);
    const rows = new Set(of('include'));
    for (const row of of('exclude')) rows.delete(row);
    for (const member of rowsOf(this.#snapshot, MEMBERS)) {
      if (member.disabled || member.values.list !== name) continue;
      const row = this.#byName.get(member.values.interface ?? '');
      if (row !== undefined) rows.add(row);
    }
    return rows;
  }
}
