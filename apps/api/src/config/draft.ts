import { nameOf, RowsByKey } from '../snapshot/rows-by-key.js';
import type { ConfigSnapshot, Row } from '../snapshot/snapshot.js';
import { assignRanks } from './ranks.js';
import { NO_RULES, type Rules } from './rules.js';
import type { RowContent } from './verify.js';

export type { RowContent };

/** A row with its place in the menu. */
export interface StoredRow extends Row {
  readonly rank: number;
}

export type StoredSnapshot = ReadonlyMap<string, readonly StoredRow[]>;

/** What a commit does to one row. `before` absent: added; `after` absent: removed. */
export interface RowChange {
  readonly menu: string;
  readonly id: number;
  readonly before?: StoredRow;
  readonly after?: StoredRow;
  /** It stands where it did and is what it was: there was no room between two others, and ranks were given anew. */
  readonly renumbered?: true;
}

/** The row stands elsewhere, and is what it was. */
export const isMove = ({ before, after }: RowChange): boolean =>
  before !== undefined && after !== undefined && equal(before, after);

/** What a commit was about: without the rows that only got other ranks. */
export const ownChanges = (changes: readonly RowChange[]): readonly RowChange[] =>
  changes.filter(({ renumbered }) => renumbered === undefined);

type Place = Row & { readonly rank: number | undefined };

/** Rows of a menu in the making: in their order, by id, and by what they hold. */
class DraftRows {
  readonly places: Place[];
  readonly byKey: RowsByKey;
  /** Made when a row is looked for by its id: rows that are added are not. */
  #byId: Map<number, Place> | undefined;

  constructor(base: readonly StoredRow[]) {
    this.places = [...base];
    this.byKey = new RowsByKey(this.places);
  }

  find(id: number): Place | undefined {
    if (this.#byId === undefined) {
      this.#byId = new Map();
      // Pairs of a hundred thousand rows would have to be collected again, and nothing else has its turn meanwhile.
      for (const place of this.places) this.#byId.set(place.id, place);
    }
    return this.#byId.get(id);
  }

  /** Adds a row before another, or at the end. */
  add(place: Place, before: Place | undefined): void {
    if (before === undefined) this.places.push(place);
    else this.places.splice(this.places.indexOf(before), 0, place);
    this.#byId?.set(place.id, place);
    this.byKey.added(place);
  }

  replace(old: Place, place: Place): void {
    this.places[this.places.indexOf(old)] = place;
    this.#byId?.set(place.id, place);
    this.byKey.removed(old);
    this.byKey.added(place);
  }

  remove(place: Place): void {
    this.places.splice(this.places.indexOf(place), 1);
    this.#byId?.delete(place.id);
    this.byKey.removed(place);
  }

  /** Has these rows instead of its own. */
  become(places: readonly Place[]): void {
    for (const place of this.places) this.byKey.removed(place);
    this.places.splice(0);
    this.#byId?.clear();
    for (const place of places) {
      this.places.push(place);
      this.#byId?.set(place.id, place);
      this.byKey.added(place);
    }
  }

  /** Gives the rows another order; those of `moved` get new ranks. */
  reorder(places: readonly Place[], moved: ReadonlySet<Place>): void {
    this.places.splice(0);
    for (const place of places) {
      if (!moved.has(place)) this.places.push(place);
      else {
        const fresh = { ...place, rank: undefined };
        this.places.push(fresh);
        this.#byId?.set(fresh.id, fresh);
        this.byKey.removed(place);
        this.byKey.added(fresh);
      }
    }
  }
}

/** A configuration in the making: the snapshot it starts from stays untouched. */
export class Draft {
  readonly rules: Rules;
  readonly #base: StoredSnapshot;
  readonly #touched = new Map<string, DraftRows>();
  readonly #nextId: () => number;
  /** The configuration as it is now; its lists are those of the drafts. */
  readonly #snapshot: Map<string, readonly Row[]>;
  /** Number from which a free name is looked for, by menu. */
  readonly #nextName = new Map<string, number>();

  /** @param rules what is checked of its rows beyond the declarations of their menus */
  constructor(base: StoredSnapshot, nextId: () => number, rules = NO_RULES) {
    this.#base = base;
    this.rules = rules;
    this.#nextId = nextId;
    this.#snapshot = new Map(base);
  }

  /** The configuration as it would be now. It goes on changing with the draft. */
  snapshot(): ConfigSnapshot {
    return this.#snapshot;
  }

  rows(menu: string): readonly Row[] {
    return this.#snapshot.get(menu) ?? [];
  }

  find(menu: string, id: number): Row | undefined {
    return this.#edit(menu).find(id);
  }

  /** Rows of a menu by what they hold. */
  byKey(menu: string): RowsByKey {
    return this.#edit(menu).byKey;
  }

  /** First of `stem1`, `stem2` … that no row of the menu is called. */
  freeName(menu: string, stem: string): string {
    const { byKey } = this.#edit(menu);
    let number = this.#nextName.get(menu) ?? 1;
    while (byKey.having(nameOf, `${stem}${number}`).size > 0) number += 1;
    this.#nextName.set(menu, number);
    return `${stem}${number}`;
  }

  /** Adds a row before the row with id `before`, or at the end. Returns its id. */
  add(menu: string, content: RowContent, before?: number): number {
    const rows = this.#edit(menu);
    const id = this.#nextId();
    rows.add({ id, ...content, rank: undefined }, before === undefined ? undefined : rows.find(before));
    return id;
  }

  /** Adds a row whose id is given, at the end. */
  addAs(menu: string, id: number, content: RowContent): void {
    this.#edit(menu).add({ id, ...content, rank: undefined }, undefined);
  }

  set(menu: string, id: number, { values, disabled, comment }: RowContent): void {
    const rows = this.#edit(menu);
    const row = rows.find(id);
    if (row !== undefined) rows.replace(row, { id, values, disabled, comment, rank: row.rank });
  }

  remove(menu: string, id: number): void {
    const rows = this.#edit(menu);
    const row = rows.find(id);
    if (row !== undefined) rows.remove(row);
  }

  /**
   * Gives a menu these rows in this order; a row whose id it has becomes what is given.
   * @param placed ids of rows whose place is another one than before
   */
  rewrite(menu: string, rows: readonly Row[], placed: ReadonlySet<number>): void {
    const drafted = this.#edit(menu);
    drafted.become(
      rows.map(({ id, values, disabled, comment }) => {
        const rank = placed.has(id) ? undefined : drafted.find(id)?.rank;
        return { id, values, disabled, comment, rank };
      }),
    );
  }

  /**
   * Moves rows, in the order given, to just before `destination`; without one, to the end. A destination
   * that is itself moved stands for the next row that is not.
   */
  move(menu: string, ids: readonly number[], destination?: number): void {
    const rows = this.#edit(menu);
    const moved = new Set(ids.flatMap((id) => rows.find(id) ?? []));
    const { places } = rows;
    const target = destination === undefined ? undefined : rows.find(destination);
    const start = target === undefined ? places.length : places.indexOf(target);
    const anchor = places.slice(start).find((row) => !moved.has(row));
    const rest = places.filter((row) => !moved.has(row));
    rest.splice(anchor === undefined ? rest.length : rest.indexOf(anchor), 0, ...moved);
    rows.reorder(rest, moved);
  }

  /** The finished snapshot and what differs from the start, last what only was renumbered. Menus and rows that are equal keep their identity. */
  finish(): { snapshot: StoredSnapshot; changes: RowChange[] } {
    const snapshot = new Map(this.#base);
    const changes: RowChange[] = [];
    const renumbered: RowChange[] = [];
    for (const [menu, { places }] of this.#touched) {
      const before = new Map((this.#base.get(menu) ?? []).map((row) => [row.id, row]));
      const ranks = assignRanks(keptInOrder(places, this.#base.get(menu) ?? []));
      const rows = places.map((place, index): StoredRow => {
        // assignRanks returns one rank per place.
        const rank = ranks[index] ?? 0;
        const old = before.get(place.id);
        return old !== undefined && (old === place || equal(old, place)) && old.rank === rank
          ? old
          : { ...place, rank };
      });
      const anew = places.some(({ rank }, index) => rank !== undefined && rank !== ranks[index]);
      const earlier = changes.length + renumbered.length;
      for (const [index, row] of rows.entries()) {
        const old = before.get(row.id);
        before.delete(row.id);
        // What is moved has no rank until now.
        const moved = places[index]?.rank === undefined;
        // Where all get ranks anew, what is moved may get the one that it had.
        if (old === row && !(moved && anew)) continue;
        const change = { menu, id: row.id, ...(old && { before: old }), after: row };
        if (old !== undefined && !moved && equal(old, row)) renumbered.push({ ...change, renumbered: true });
        else changes.push(change);
      }
      for (const old of before.values()) changes.push({ menu, id: old.id, before: old });
      // Whatever is stored is in memory, too.
      if (changes.length + renumbered.length > earlier) snapshot.set(menu, rows);
    }
    return { snapshot, changes: [...changes, ...renumbered] };
  }

  #edit(menu: string): DraftRows {
    let rows = this.#touched.get(menu);
    if (rows === undefined) {
      rows = new DraftRows(this.#base.get(menu) ?? []);
      this.#touched.set(menu, rows);
      this.#snapshot.set(menu, rows.places);
    }
    return rows;
  }
}

/** A move that ends where it began keeps the ranks: it is no change. */
function keptInOrder(places: readonly Place[], before: readonly StoredRow[]): (number | undefined)[] {
  const same = places.length === before.length && places.every((place, index) => place.id === before[index]?.id);
  return same ? before.map((row) => row.rank) : places.map((place) => place.rank);
}

/** Whether two rows hold the same, wherever they stand. */
export function equal(a: Row, b: Row): boolean {
  const keys = Object.keys(a.values);
  return (
    a.disabled === b.disabled &&
    a.comment === b.comment &&
    keys.length === Object.keys(b.values).length &&
    keys.every((key) => a.values[key] === b.values[key])
  );
}
