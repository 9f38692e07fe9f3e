import { menuByPath } from '@tollway/schema';
import { interfaceMenus, interfaceName, interfacesOf } from '../snapshot/interfaces.js';
import type { ConfigSnapshot } from '../snapshot/snapshot.js';
import { rowsOf } from '../snapshot/snapshot.js';

const LISTS = '/interface/list';
const MEMBERS = '/interface/list/member';

/** Whether a list is one of the router's own, e.g. `none`, which is empty on purpose. */
export function isBuiltinList(name: string): boolean {
  return menuByPath(LISTS)?.builtin?.some((list) => list.values.name === name) === true;
}

/** Resolves names of interfaces and of interface lists to rows of interfaces of whatever type. */
export class InterfaceNames {
  /** Interface rows by name. */
  readonly byName: ReadonlyMap<string, number>;
  readonly #snapshot: ConfigSnapshot;
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
    this.byName = new Map(interfacesOf(snapshot).map((row) => [interfaceName(row), row.id]));
  }

  /** Rows of an interface name or of `all-ethernet`; undefined when there is none of that name. */
  matching(name: string): readonly number[] | undefined {
    if (name === 'all-ethernet') return this.#all();
    const row = this.byName.get(name);
    return row === undefined ? undefined : [row];
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
    return [...this.byName.values()];
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
      const row = this.byName.get(member.values.interface ?? '');
      if (row !== undefined) rows.add(row);
    }
    return rows;
  }
}
