import { assignRanks } from './ranks.js';
import type { ConfigSnapshot, Row } from './snapshot.js';
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
}

type Place = Row & { readonly rank: number | undefined };

/** A configuration in the making: the snapshot it starts from stays untouched. */
export class Draft {
  readonly #base: StoredSnapshot;
  readonly #touched = new Map<string, Place[]>();
  readonly #nextId: () => number;

  constructor(base: StoredSnapshot, nextId: () => number) {
    this.#base = base;
    this.#nextId = nextId;
  }

  /** The configuration as it would be now. */
  snapshot(): ConfigSnapshot {
    return new Map<string, readonly Row[]>([...this.#base, ...this.#touched]);
  }

  rows(menu: string): readonly Row[] {
    return this.#touched.get(menu) ?? this.#base.get(menu) ?? [];
  }

  find(menu: string, id: number): Row | undefined {
    return this.rows(menu).find((row) => row.id === id);
  }

  /** Adds a row before the row with id `before`, or at the end. Returns its id. */
  add(menu: string, content: RowContent, before?: number): number {
    const rows = this.#edit(menu);
    const id = this.#nextId();
    const index = before === undefined ? -1 : rows.findIndex((row) => row.id === before);
    rows.splice(index < 0 ? rows.length : index, 0, { id, ...content, rank: undefined });
    return id;
  }

  set(menu: string, id: number, { values, disabled, comment }: RowContent): void {
    const rows = this.#edit(menu);
    const index = rows.findIndex((row) => row.id === id);
    const row = rows[index];
    if (row !== undefined) rows[index] = { id, values, disabled, comment, rank: row.rank };
  }

  remove(menu: string, id: number): void {
    const rows = this.#edit(menu);
    const index = rows.findIndex((row) => row.id === id);
    if (index >= 0) rows.splice(index, 1);
  }

  /**
   * Moves rows, in the order given, to just before `destination`; without one, to the end. A destination
   * that is itself moved stands for the next row that is not.
   */
  move(menu: string, ids: readonly number[], destination?: number): void {
    const rows = this.#edit(menu);
    const moving = new Set(ids);
    const start = destination === undefined ? rows.length : rows.findIndex((row) => row.id === destination);
    const anchor = rows.slice(start < 0 ? rows.length : start).find((row) => !moving.has(row.id));
    const moved = [...moving].flatMap((id) => {
      const row = rows.find((candidate) => candidate.id === id);
      return row === undefined ? [] : [{ ...row, rank: undefined }];
    });
    const rest = rows.filter((row) => !moving.has(row.id));
    const at = anchor === undefined ? rest.length : rest.indexOf(anchor);
    rest.splice(at, 0, ...moved);
    this.#touched.set(menu, rest);
  }

  /** The finished snapshot and what differs from the start. Menus and rows that are equal keep their identity. */
  finish(): { snapshot: StoredSnapshot; changes: RowChange[] } {
    const snapshot = new Map(this.#base);
    const changes: RowChange[] = [];
    for (const [menu, places] of this.#touched) {
      const before = new Map((this.#base.get(menu) ?? []).map((row) => [row.id, row]));
      const ranks = assignRanks(keptInOrder(places, this.#base.get(menu) ?? []));
      const rows = places.map((place, index): StoredRow => {
        // assignRanks returns one rank per place.
        const rank = ranks[index] ?? 0;
        const old = before.get(place.id);
        return old !== undefined && equal(old, place) && old.rank === rank ? old : { ...place, rank };
      });
      for (const row of rows) {
        const old = before.get(row.id);
        before.delete(row.id);
        if (old !== row) changes.push({ menu, id: row.id, ...(old && { before: old }), after: row });
      }
      for (const old of before.values()) changes.push({ menu, id: old.id, before: old });
      snapshot.set(menu, rows);
    }
    return { snapshot, changes };
  }

  #edit(menu: string): Place[] {
    let rows = this.#touched.get(menu);
    if (rows === undefined) {
      rows = [...(this.#base.get(menu) ?? [])];
      this.#touched.set(menu, rows);
    }
    return rows;
  }
}

/** A move that ends where it began keeps the ranks: it is no change. */
function keptInOrder(places: readonly Place[], before: readonly StoredRow[]): (number | undefined)[] {
  const same = places.length === before.length && places.every((place, index) => place.id === before[index]?.id);
  return same ? before.map((row) => row.rank) : places.map((place) => place.rank);
}

function equal(a: Row, b: Row): boolean {
  const keys = Object.keys(a.values);
  return (
    a.disabled === b.disabled &&
    a.comment === b.comment &&
    keys.length === Object.keys(b.values).length &&
    keys.every((key) => a.values[key] === b.values[key])
  );
}
