import { type Menu, menuByPath } from '@tollway/schema';
import { errors } from '../../errors.js';
import { TimeSlicer } from '../../scheduling/time-slicer.js';
import { builtinRow } from '../../snapshot/builtin.js';
import { nameOf } from '../../snapshot/rows-by-key.js';
import { type Row, rowIdText } from '../../snapshot/snapshot.js';
import { type Draft, isMove, type StoredRow, type StoredSnapshot } from '../draft.js';
import { menusOf } from '../items.js';
import { prepareChecks } from '../menu-checks.js';
import { type Referrer, referrersByName } from '../references.js';
import { referrersText } from '../referential-integrity.js';
import { verifyRestored } from '../verify.js';
import { ineffectiveRevisions, inOrder, orderWithout } from './order-without.js';
import { type MarkSetters, markSettersIn, ReferrersSince, removedMarks } from './removed-marks.js';
import { followRenames, type IsUnchangedSince, perMenu, type RowsOf, unchangedSince } from './renames.js';
import { type PastRevision, type RevisionRanks, type RowBefore, ranksOf, withoutRenumbering } from './revision.js';
import { movedBetween, reinsert, withOtherNeighbours } from './row-order.js';

/** Undo of a revision: its rows get their former content, position and id. */

/** Reason why the change of a row cannot be undone. */
export interface Conflict {
  readonly menu: string;
  readonly id: number;
  /** Name of the item, or its other identification. */
  readonly name: string;
  /** `was changed after revision 7`. */
  readonly why: string;
}

/** Maximum number of conflicts that an error lists. */
const MAX_LISTED = 20;

/**
 * Undoes a revision in a draft.
 * @param later later revisions, newest first: former positions in its menus, and former names in the menus that its rows reference
 * @param earlier earlier revisions that later ones undid, newest first
 * @param rowsBefore contents of rows that may reference marks, before this revision and before each later one, oldest first
 * @throws ApiError that lists the conflicts: rows that were changed since, and rows that the present configuration no longer
 * allows. The draft must not be committed then.
 */
export async function revert(
  draft: Draft,
  now: StoredSnapshot,
  stored: PastRevision,
  later: readonly RevisionRanks[],
  earlier: readonly RevisionRanks[],
  rowsBefore: () => AsyncIterable<readonly RowBefore[]>,
): Promise<void> {
  const past = withoutRenumbering(stored);
  const menus = [...new Set(past.changes.map(({ menu }) => menu))];
  if (menus.length === 0) throw errors.failure(`revision ${past.number} changed no rows`);
  const rowsOf = perMenu((menu) => rowsById(now, menu));
  const isUnchanged = unchangedSince(rowsOf, () => later);
  const slicer = new TimeSlicer();
  const changed: (readonly Conflict[])[] = [];
  for (const menu of menus) {
    const moved = movedSince(now, menu, later);
    changed.push(await changedSince(rowsOf(menu), moved, menu, past, isUnchanged, slicer));
  }
  refuse(past.number, changed.flat());
  const removed = await removedMarks(past, markSettersIn(now, slicer));
  if (removed.length > 0) {
    const referrers = new ReferrersSince(past, removed, rowsOf);
    for await (const rows of rowsBefore()) await slicer.map(rows, (row) => referrers.add(row));
    refuse(past.number, markConflicts(referrers));
  }
  const revisions = [...later, ranksOf(stored), ...earlier];
  const ineffective = ineffectiveRevisions(past.number, revisions);
  for (const menu of menus) {
    const order = await orderWithout(now, menu, revisions, ineffective, slicer);
    if (slicer.over) await slicer.pause();
    restore(draft, menu, past, order);
    if (slicer.over) await slicer.pause();
  }
  refuse(
    past.number,
    (await followRenames(draft, now, past, later, slicer)).map(({ menu, row, property, name }) => {
      const why = `cannot come back: value of ${property}: what is called ${name} now is not what was called so then`;
      return { menu, id: row.id, name: titleOf(row), why };
    }),
  );
  const impossible: (readonly Conflict[])[] = [];
  for (const menu of menus) impossible.push(await impossibleRows(draft, menu, past, slicer));
  refuse(past.number, impossible.flat());
}

export const rowsById = (now: StoredSnapshot, menu: string): ReadonlyMap<number, StoredRow> =>
  new Map((now.get(menu) ?? []).map((row) => [row.id, row]));

/**
 * Rows of a menu that were changed after the revision, in the order of its changes.
 * @param rows the present rows of the menu
 * @param moved rows that were moved after the revision
 */
export async function changedSince(
  rows: ReadonlyMap<number, StoredRow>,
  moved: ReadonlySet<number>,
  menu: string,
  past: PastRevision,
  isUnchanged: IsUnchangedSince,
  slicer: TimeSlicer,
): Promise<readonly Conflict[]> {
  const found = await slicer.map(past.changes, (change): readonly Conflict[] => {
    const { id, before, after } = change;
    if (change.menu !== menu) return [];
    const row = rows.get(id);
    const conflict = (why: string) => [{ menu, id, name: titleOf(after ?? before ?? row), why }];
    if (after === undefined) {
      if (row !== undefined) return conflict('is there again');
      // The undo of the revision had restored the row, and a later revision removed the row again.
      return past.revertedBy === undefined ? [] : conflict(`was removed again after revision ${past.revertedBy}`);
    }
    if (row === undefined) return conflict(`was removed after revision ${past.number}`);
    // If the revision only moved the row, a later move is a conflict and a later change of content is none.
    if (isMove(change)) return moved.has(id) ? conflict(`was moved after revision ${past.number}`) : [];
    return isUnchanged(menu, row, after) ? [] : conflict(`was changed after revision ${past.number}`);
  });
  return found.flat();
}

export const NONE: ReadonlySet<number> = new Set();

/** Ranks by row id, ascending, as they were before the oldest of these revisions. @param revisions newest first */
function ranksBefore(
  now: StoredSnapshot,
  menu: string,
  revisions: readonly RevisionRanks[],
): ReadonlyMap<number, number> {
  const ranks = new Map((now.get(menu) ?? []).map(({ id, rank }) => [id, rank]));
  for (const { changes } of revisions) {
    for (const change of changes) {
      if (change.menu !== menu) continue;
      if (change.before === undefined) ranks.delete(change.id);
      else ranks.set(change.id, change.before.rank);
    }
  }
  return inOrder(ranks);
}

/** Rows that later revisions moved. A rank that changed because all ranks were reassigned is no move. */
export function movedSince(now: StoredSnapshot, menu: string, later: readonly RevisionRanks[]): ReadonlySet<number> {
  if (later.length === 0) return NONE;
  const left = ranksBefore(now, menu, later);
  const present = ranksBefore(now, menu, []);
  const beside = withOtherNeighbours([...left.keys()], [...present.keys()]);
  return new Set([...beside].filter((id) => left.get(id) !== present.get(id)));
}

/** Restores the rows of a menu. @param order ids in the order that the menu would have without the revision */
function restore(draft: Draft, menu: string, past: PastRevision, order: readonly number[]): void {
  const changes = new Map(past.changes.flatMap((change) => (change.menu === menu ? [[change.id, change]] : [])));
  const rows = new Map(draft.rows(menu).map((row) => [row.id, row]));
  const staying = [...rows.keys()].filter((id) => changes.get(id)?.before !== undefined || !changes.has(id));
  const gone = [...changes.values()].flatMap(({ id, after }) => (after === undefined ? [id] : []));
  const there = new Set([...staying, ...gone]);
  const known = new Set(order.filter((id) => there.has(id)));
  // A row that the history does not mention stays before its present successor.
  const ids = reinsert([...known], staying, new Set(staying.filter((id) => !known.has(id))));
  draft.rewrite(
    menu,
    ids.flatMap((id) => {
      const change = changes.get(id);
      return (change === undefined || isMove(change) ? undefined : change.before) ?? rows.get(id) ?? [];
    }),
    new Set([...gone, ...movedBetween(staying, ids)]),
  );
}

/** Conflicts of restored rows that the present configuration does not allow. */
async function impossibleRows(
  draft: Draft,
  path: string,
  past: PastRevision,
  slicer: TimeSlicer,
): Promise<readonly Conflict[]> {
  const menu = menuByPath(path);
  if (menu === undefined) throw errors.failure(`there is no menu ${path} any more`);
  const rows = draft.byKey(path);
  await prepareChecks(draft.checks.get(path), rows, slicer);
  const conflict = (row: Row, why: string): Conflict => ({ menu: path, id: row.id, name: titleOf(row), why });
  const found = await slicer.map(past.changes, (change): readonly Conflict[] => {
    const { menu: of, id, before } = change;
    const row = of !== path || before === undefined || isMove(change) ? undefined : draft.find(path, id);
    if (row === undefined) return [];
    for (const [through, body] of settable(menu, row)) {
      const verified = verifyRestored(draft.checks, through, row, body, draft.snapshot(), draft.storage(path));
      if (!verified.ok) return [conflict(row, `cannot come back: ${verified.errors[0].detail}`)];
    }
    return [];
  });
  const names = past.changes.flatMap(({ menu: of, after }) => (of === path && after?.values.name ? [after] : []));
  if (names.length === 0) return found.flat();
  const referrers = await slicer.finish(referrersByName(draft.snapshot(), path));
  await rows.prepare(nameOf, slicer);
  const referenced = await slicer.map(names, (row) => {
    const { name = '' } = row.values;
    return nameGone(menu, row, referrers.get(name)?.[0], rows.having(nameOf, name).size > 0);
  });
  return [...found, ...referenced].flat();
}

/**
 * The conflict of a row whose name would disappear although another row references it. @param stays whether an item
 * keeps the name
 */
function nameGone(menu: Menu, row: Row, referrer: Referrer | undefined, stays: boolean): readonly Conflict[] {
  const { name = '' } = row.values;
  if (referrer === undefined || stays || builtinRow(menu, { name }) !== undefined) return [];
  const why = `is in use by ${referrer.menu} ${titleOf(referrer.row)}, which names it since then`;
  return [{ menu: menu.path, id: row.id, name: titleOf(row), why }];
}

const markConflicts = ({ found }: ReferrersSince): readonly Conflict[] =>
  [...found].map(([{ kind, mark, rule }, referrers]) => {
    const why = `gives ${kind.target.word} ${mark}, which is in use by ${referrersText(referrers)} since then`;
    return { menu: kind.menu, id: rule.id, name: titleOf(rule), why };
  });

/** Look-ups of the present references and names. Each menu is searched at its first look-up. */
export interface ReferenceLookup {
  /** Rows that reference items of a menu, by the names of those items. */
  referrersOf(menu: string): Promise<ReadonlyMap<string, readonly Referrer[]>>;
  /** Ids of the rows of a menu by their names. */
  idsByName(menu: string): Promise<ReadonlyMap<string, readonly number[]>>;
  readonly markSetters: MarkSetters;
}

/**
 * Conflicts of rows whose names would disappear by the undo of a revision although other rows reference them.
 * @see impossibleRows, which checks a draft after the undo
 */
export async function namesStillReferenced(
  references: ReferenceLookup,
  past: PastRevision,
): Promise<readonly Conflict[]> {
  const own = new Set(past.changes.map(({ id }) => id));
  const back = new Set(past.changes.map(({ menu, before }) => `${menu} ${before?.values.name}`));
  const found: Conflict[] = [];
  for (const { menu: path, after } of past.changes) {
    const name = after?.values.name;
    const menu = menuByPath(path);
    if (after === undefined || name === undefined || name === '' || menu === undefined || back.has(`${path} ${name}`))
      continue;
    const referrer = (await references.referrersOf(path)).get(name)?.find(({ row }) => !own.has(row.id));
    const isKept = (ids: readonly number[] | undefined) => ids?.some((other) => !own.has(other)) === true;
    const stays = referrer !== undefined && isKept((await references.idsByName(path)).get(name));
    found.push(...nameGone(menu, after, referrer, stays));
  }
  return found;
}

/**
 * Conflicts of rules whose marks would disappear by the undo of a revision although rows have referenced them since.
 * @param since the revision and the later ones, oldest first
 */
export async function marksStillReferenced(
  { markSetters }: ReferenceLookup,
  past: PastRevision,
  rowsOf: RowsOf,
  since: () => Iterable<PastRevision>,
): Promise<readonly Conflict[]> {
  const removed = await removedMarks(past, markSetters);
  if (removed.length === 0) return [];
  const referrers = new ReferrersSince(past, removed, rowsOf);
  for (const { changes } of since()) for (const change of changes) referrers.add(change);
  return markConflicts(referrers);
}

/**
 * The values of a row as bodies of `set`, grouped by the menu that declares the property. Undeclared properties are in
 * the row's own menu.
 */
function settable(menu: Menu, { values }: Row): ReadonlyMap<Menu, Readonly<Record<string, string>>> {
  const bodies = new Map<Menu, Record<string, string>>([[menu, {}]]);
  const menus = menusOf(menu);
  for (const [name, value] of Object.entries(values)) {
    const through = menus.find(({ props }) => Object.hasOwn(props, name)) ?? menu;
    if (through.props[name]?.readOnly === true) continue;
    bodies.set(through, { ...bodies.get(through), [name]: value });
  }
  return bodies;
}

function titleOf(row: Row | StoredRow | undefined): string {
  if (row === undefined) return '';
  return row.values.name ?? (row.comment === '' ? rowIdText(row.id) : `${rowIdText(row.id)} "${row.comment}"`);
}

/** `/queue/simple alice was changed after revision 7`. */
const conflictText = ({ menu, name, why }: Conflict): string => `${menu} ${name} ${why}`;

function refuse(revision: number, conflicts: readonly Conflict[]): void {
  if (conflicts.length === 0) return;
  const listed = conflicts.slice(0, MAX_LISTED).map(conflictText);
  const more = conflicts.length - listed.length;
  const rows = `${listed.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
  throw errors.failure(`revision ${revision} cannot be undone, nothing was changed: ${rows}`);
}
