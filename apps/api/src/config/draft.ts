import { interfaceMenus, interfaceNameTaken, isTreeQueue } from '../snapshot/interfaces.js';
import { nameOf, RowsByKey } from '../snapshot/rows-by-key.js';
import type { ConfigSnapshot, Row } from '../snapshot/snapshot.js';
import { type ChecksByMenu, NO_CHECKS } from './menu-checks.js';
import { assignRanks } from './ranks.js';
import type { RowContent, Storage } from './verify.js';

export type { RowContent };

/** A row with its place in the menu. */
export interface StoredRow extends Row {
  readonly rank: number;
}

export type StoredSnapshot = ReadonlyMap<string, readonly StoredRow[]>;

/** The change of one row by a commit. `before` absent: added; `after` absent: removed. */
export interface RowChange {
  readonly menu: string;
  readonly id: number;
  readonly before?: StoredRow;
  readonly after?: StoredRow;
  /** True where only the rank changed: all ranks were reassigned, as there was none left between two rows. */
  readonly renumbered?: true;
}

/** Whether a change alters the position of a row but not its content. */
export const isMove = ({ before, after }: RowChange): boolean =>
  before !== undefined && after !== undefined && sameContent(before, after);

/** The changes, except those of rows that were only renumbered. */
export const withoutRenumbered = (changes: readonly RowChange[]): readonly RowChange[] =>
  changes.filter(({ renumbered }) => renumbered === undefined);

/** A row of a draft. A row that was added or moved gets its rank when the draft is finished. */
type DraftRow = Row & { readonly rank: number | undefined };

/** Rows of one menu of a draft: in their order, by id, and by the keys that checks look them up by. */
class DraftRows {
  readonly rows: DraftRow[];
  readonly byKey: RowsByKey;
  /** Rows by id. Built at the first look-up by id: a bulk add needs none. */
  #byId: Map<number, DraftRow> | undefined;

  constructor(base: readonly StoredRow[]) {
    this.rows = [...base];
    this.byKey = new RowsByKey(this.rows);
  }

  find(id: number): DraftRow | undefined {
    if (this.#byId === undefined) {
      this.#byId = new Map();
      // A loop, as `new Map(rows.map(…))` would allocate a pair for each of a hundred thousand rows.
      for (const row of this.rows) this.#byId.set(row.id, row);
    }
    return this.#byId.get(id);
  }

  /** Adds a row before another, or at the end. */
  add(row: DraftRow, before: DraftRow | undefined): void {
    if (before === undefined) this.rows.push(row);
    else this.rows.splice(this.rows.indexOf(before), 0, row);
    this.#byId?.set(row.id, row);
    this.byKey.added(row);
  }

  replace(old: DraftRow, row: DraftRow): void {
    this.rows[this.rows.indexOf(old)] = row;
    this.#byId?.set(row.id, row);
    this.byKey.removed(old);
    this.byKey.added(row);
  }

  remove(row: DraftRow): void {
    this.rows.splice(this.rows.indexOf(row), 1);
    this.#byId?.delete(row.id);
    this.byKey.removed(row);
  }

  replaceAll(rows: readonly DraftRow[]): void {
    for (const row of this.rows) this.byKey.removed(row);
    this.rows.splice(0);
    this.#byId?.clear();
    for (const row of rows) {
      this.rows.push(row);
      this.#byId?.set(row.id, row);
      this.byKey.added(row);
    }
  }

  /** Reorders the rows; the rows of `moved` get new ranks. */
  reorder(rows: readonly DraftRow[], moved: ReadonlySet<DraftRow>): void {
    this.rows.splice(0);
    for (const row of rows) {
      if (!moved.has(row)) this.rows.push(row);
      else {
        const unranked = { ...row, rank: undefined };
        this.rows.push(unranked);
        this.#byId?.set(unranked.id, unranked);
        this.byKey.removed(row);
        this.byKey.added(unranked);
      }
    }
  }
}

/** An uncommitted copy of the configuration. The snapshot that it is based on is not modified. */
export class Draft {
  readonly checks: ChecksByMenu;
  readonly #base: StoredSnapshot;
  readonly #touched = new Map<string, DraftRows>();
  readonly #nextId: () => number;
  /** The base snapshot, with the row lists of the changed menus replaced. */
  readonly #snapshot: Map<string, readonly Row[]>;
  /** The number that {@link freeName} tries first, by menu. */
  readonly #nextName = new Map<string, number>();

  /** @param checks checks beyond the declarations of the menus */
  constructor(base: StoredSnapshot, nextId: () => number, checks = NO_CHECKS) {
    this.#base = base;
    this.checks = checks;
    this.#nextId = nextId;
    this.#snapshot = new Map(base);
  }

  /** The configuration with the changes so far: a live view, which later changes of the draft alter. */
  snapshot(): ConfigSnapshot {
    return this.#snapshot;
  }

  rows(menu: string): readonly Row[] {
    return this.#snapshot.get(menu) ?? [];
  }

  find(menu: string, id: number): Row | undefined {
    return this.#rowsOf(menu).find(id);
  }

  /** Rows of a menu by name and other keys. */
  byKey(menu: string): RowsByKey {
    return this.#rowsOf(menu).byKey;
  }

  /** The rows of a menu that stores rows, for the checks of one of its rows. */
  storage(path: string): Storage {
    return { path, rows: this.byKey(path) };
  }

  /**
   * The first of `stem1`, `stem2` … that is free in the menu; for an interface, also free among all interfaces and tree
   * queues.
   */
  freeName(menu: string, stem: string): string {
    const { byKey } = this.#rowsOf(menu);
    const isInterface = interfaceMenus.includes(menu);
    const isTaken = (name: string) =>
      byKey.having(nameOf, name).size > 0 ||
      (isInterface && (interfaceNameTaken(this.#snapshot, name) || isTreeQueue(this.#snapshot, name)));
    let number = this.#nextName.get(menu) ?? 1;
    while (isTaken(`${stem}${number}`)) number += 1;
    this.#nextName.set(menu, number);
    return `${stem}${number}`;
  }

  /** Adds a row before the row with the id `before`, or at the end. Returns the id of the new row. */
  add(menu: string, content: RowContent, before?: number): number {
    const rows = this.#rowsOf(menu);
    const id = this.#nextId();
    rows.add({ id, ...content, rank: undefined }, before === undefined ? undefined : rows.find(before));
    return id;
  }

  /** Adds a row whose id is given, at the end. */
  addWithId(menu: string, id: number, content: RowContent): void {
    this.#rowsOf(menu).add({ id, ...content, rank: undefined }, undefined);
  }

  set(menu: string, id: number, { values, disabled, comment }: RowContent): void {
    const rows = this.#rowsOf(menu);
    const row = rows.find(id);
    if (row !== undefined) rows.replace(row, { id, values, disabled, comment, rank: row.rank });
  }

  remove(menu: string, id: number): void {
    const rows = this.#rowsOf(menu);
    const row = rows.find(id);
    if (row !== undefined) rows.remove(row);
  }

  /**
   * Replaces all rows of a menu by these, in this order. Rows are matched with the present ones by id.
   * @param moved ids of rows whose position has changed; they get new ranks
   */
  rewrite(menu: string, rows: readonly Row[], moved: ReadonlySet<number>): void {
    const drafted = this.#rowsOf(menu);
    drafted.replaceAll(
      rows.map(({ id, values, disabled, comment }) => {
        const rank = moved.has(id) ? undefined : drafted.find(id)?.rank;
        return { id, values, disabled, comment, rank };
      }),
    );
  }

  /**
   * Moves rows, in the order given, to just before `destination`; without a destination, to the end. If the destination
   * is itself moved, the next row that is not moved takes its place.
   */
  move(menu: string, ids: readonly number[], destination?: number): void {
    const drafted = this.#rowsOf(menu);
    const { rows } = drafted;
    const moved = new Set(ids.flatMap((id) => drafted.find(id) ?? []));
    const target = destination === undefined ? undefined : drafted.find(destination);
    const start = target === undefined ? rows.length : rows.indexOf(target);
    const anchor = rows.slice(start).find((row) => !moved.has(row));
    const rest = rows.filter((row) => !moved.has(row));
    rest.splice(anchor === undefined ? rest.length : rest.indexOf(anchor), 0, ...moved);
    drafted.reorder(rest, moved);
  }

  /**
   * The new snapshot, and its differences from the base: changes of content or position first, rows that were only
   * renumbered last. Unchanged menus and rows are the same objects as in the base.
   */
  finish(): { snapshot: StoredSnapshot; changes: RowChange[] } {
    const snapshot = new Map(this.#base);
    const changes: RowChange[] = [];
    const renumbered: RowChange[] = [];
    for (const [menu, { rows: drafted }] of this.#touched) {
      const before = new Map((this.#base.get(menu) ?? []).map((row) => [row.id, row]));
      const ranks = assignRanks(ranksToKeep(drafted, this.#base.get(menu) ?? []));
      const rows = drafted.map((row, index): StoredRow => {
        // assignRanks returns one rank for each row.
        const rank = ranks[index] ?? 0;
        const old = before.get(row.id);
        return old !== undefined && (old === row || sameContent(old, row)) && old.rank === rank
          ? old
          : { ...row, rank };
      });
      const allRenumbered = drafted.some(({ rank }, index) => rank !== undefined && rank !== ranks[index]);
      const earlier = changes.length + renumbered.length;
      for (const [index, row] of rows.entries()) {
        const old = before.get(row.id);
        before.delete(row.id);
        const moved = drafted[index]?.rank === undefined;
        // When all rows are renumbered, a moved row may by chance get its former rank.
        if (old === row && !(moved && allRenumbered)) continue;
        const change = { menu, id: row.id, ...(old && { before: old }), after: row };
        if (old !== undefined && !moved && sameContent(old, row)) renumbered.push({ ...change, renumbered: true });
        else changes.push(change);
      }
      for (const old of before.values()) changes.push({ menu, id: old.id, before: old });
      if (changes.length + renumbered.length > earlier) snapshot.set(menu, rows);
    }
    return { snapshot, changes: [...changes, ...renumbered] };
  }

  #rowsOf(menu: string): DraftRows {
    let rows = this.#touched.get(menu);
    if (rows === undefined) {
      rows = new DraftRows(this.#base.get(menu) ?? []);
      this.#touched.set(menu, rows);
      this.#snapshot.set(menu, rows.rows);
    }
    return rows;
  }
}

/**
 * The ranks that rows keep. If all moved rows are back in their former order, they keep their former ranks: nothing
 * changed.
 */
function ranksToKeep(rows: readonly DraftRow[], before: readonly StoredRow[]): (number | undefined)[] {
  const same = rows.length === before.length && rows.every((row, index) => row.id === before[index]?.id);
  return (same ? before : rows).map(({ rank }) => rank);
}

/** Whether two rows have the same content, regardless of id and position. */
export function sameContent(a: Row, b: Row): boolean {
  const keys = Object.keys(a.values);
  return (
    a.disabled === b.disabled &&
    a.comment === b.comment &&
    keys.length === Object.keys(b.values).length &&
    keys.every((key) => a.values[key] === b.values[key])
  );
}
