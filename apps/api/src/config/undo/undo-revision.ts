import type { Database } from '../../database/client.js';
import { errors } from '../../errors.js';
import { TimeSlicer } from '../../scheduling/time-slicer.js';
import { isMove } from '../draft.js';
import { referrersByName } from '../references.js';
import {
  type Author,
  type RevisionLine,
  readAllChangesOf,
  readChangesFrom,
  readRanksSince,
  readRevision,
  readRowsBefore,
  readUndoing,
  SYSTEM,
} from '../revision-storage.js';
import type { ConfigStore } from '../store.js';
import { oldestToReplay, revertedBy } from './order-without.js';
import { markReferringMenus, markSettersIn } from './removed-marks.js';
import { type IsUnchangedSince, namedMenus, perMenu, type RowsOf, unchangedSince } from './renames.js';
import {
  type Conflict,
  changedSince,
  marksStillReferenced,
  movedSince,
  NONE,
  namesStillReferenced,
  type ReferenceLookup,
  revert,
  rowsById,
} from './revert.js';
import { type PastRevision, type RevisionRanks, ranksOf, withoutRenumbering } from './revision.js';

/** Undo of revisions, and which revisions can be undone. */

/** Reason why a revision can never be undone; undefined when it depends on the present rows. */
function neverUndone({ author, rows }: RevisionLine): string | undefined {
  if (rows === 0) return 'it changed no rows';
  return author === SYSTEM.name ? 'the router made it itself' : undefined;
}

/**
 * Undoes a revision by a new one.
 * @param allowed throws when the author may not change one of the menus
 * @returns the changes that were undone, and the number of the new revision.
 * @throws ApiError when the revision is no longer stored, cannot be undone, or its undo changes nothing; conflicts are listed.
 */
export async function undoRevision(
  { store, db }: { readonly store: ConfigStore; readonly db: Database },
  author: Author,
  number: number,
  allowed: (past: PastRevision) => void,
): Promise<{ readonly past: PastRevision; readonly revision: number }> {
  const line = await readRevision(db, number);
  if (line === undefined) throw errors.badProperty('revision', `there is no revision ${number}, or no longer`);
  const why = neverUndone(line);
  if (why !== undefined) throw errors.failure(`revision ${number} cannot be undone: ${why}`);
  const past: PastRevision = { number, changes: await readAllChangesOf(db, line) };
  if (past.changes.length < line.rows) {
    throw errors.badProperty('revision', `there is no revision ${number} any longer`);
  }
  allowed(past);
  const menus = [...new Set([...past.changes.map(({ menu }) => menu), ...namedMenus(past)])];
  let later: readonly RevisionRanks[] = await readRanksSince(db, number, menus);
  const newest = () => later[0]?.number ?? number;
  const { revision } = await store.revise(
    author,
    `undo revision ${number}`,
    async (draft) => {
      // Adds the revisions that were committed while this undo waited for the lock.
      if (newest() < store.revision) later = [...(await readRanksSince(db, newest(), menus)), ...later];
      if (newest() !== store.revision) throw otherDatabase(number, store.revision, newest());
      const undoing = await readUndoing(db);
      const first = oldestToReplay(number, undoing);
      const earlier = first < number ? await readRanksSince(db, first - 1, menus, number - 1) : [];
      const rowsBefore = () => readRowsBefore(db, number, markReferringMenus);
      const known = { ...past, revertedBy: revertedBy(undoing).get(number) };
      await revert(draft, store.snapshot, known, later, earlier, rowsBefore);
    },
    number,
  );
  // The revision moved rows past rows that were removed since: it can be undone once those rows are restored.
  if (revision === undefined) {
    throw errors.failure(`revision ${number} cannot be undone now: rows stand as they would without it`);
  }
  return { past: withoutRenumbering(past), revision };
}

const otherDatabase = (number: number, newest: number, stored: number) =>
  errors.failure(
    `revision ${number} cannot be undone now: the newest revision is ${newest}, and the newest one in the ` +
      `database ${stored}. The database is not the one that the router was started with: restart it`,
  );

/**
 * Maximum number of changed rows that {@link undoReasons} examines; in menus with more rows it does not examine moves.
 */
const MAX_ROWS = 2_000;
/** Maximum size of those changes in the database, bytes, including renumbered rows. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Reasons why revisions cannot be undone now, by revision number; an empty text for a revision that can be undone. Only
 * the newest revisions are examined, up to the limits above. For a revision that is missing in the result, only an
 * attempted undo shows whether it is possible.
 * @param lines newest first
 */
export async function undoReasons(
  { store, db }: { readonly store: ConfigStore; readonly db: Database },
  lines: readonly RevisionLine[],
): Promise<ReadonlyMap<number, string>> {
  const reasons = new Map<number, string>();
  let [rows, bytes] = [0, 0];
  let first: number | undefined;
  for (const line of lines) {
    rows += line.rows;
    bytes += line.size;
    if (rows > MAX_ROWS || bytes > MAX_BYTES) break;
    first = line.number;
  }
  const past = first === undefined ? [] : await readChangesFrom(db, first);
  const byNumber = new Map(past.map((each) => [each.number, each]));
  const ranks = past.map(ranksOf);
  const slicer = new TimeSlicer();
  const rowsOf = perMenu((menu) => rowsById(store.snapshot, menu));
  const references = referenceLookup(store, slicer);
  const undone = revertedBy(await readUndoing(db));
  const oldestFirst = past.toReversed();
  const since = (first: number) => () => ranks.filter(({ number }) => number > first);
  for (const line of lines) {
    if (slicer.over) await slicer.pause();
    const never = neverUndone(line);
    const revision = byNumber.get(line.number);
    if (never !== undefined) reasons.set(line.number, never);
    else if (revision !== undefined) {
      const later = since(line.number);
      const movedIn = (menu: string) =>
        rowsOf(menu).size > MAX_ROWS ? NONE : movedSince(store.snapshot, menu, later());
      const isUnchanged = unchangedSince(rowsOf, later);
      const changes = () => oldestFirst.filter(({ number }) => number >= line.number);
      const known = { rowsOf, movedIn, isUnchanged, references, changes };
      const asNow = { ...withoutRenumbering(revision), revertedBy: undone.get(line.number) };
      reasons.set(line.number, await reasonNow(known, asNow, slicer));
    }
  }
  return reasons;
}

/** Look-ups that search each menu on first use. */
function referenceLookup({ snapshot }: ConfigStore, slicer: TimeSlicer): ReferenceLookup {
  return {
    markSetters: markSettersIn(snapshot, slicer),
    referrersOf: perMenu((menu) => slicer.finish(referrersByName(snapshot, menu))),
    idsByName: perMenu(async (menu) => {
      const ids = new Map<string, number[]>();
      await slicer.map(snapshot.get(menu) ?? [], ({ id, values: { name = '' } }) => {
        const known = ids.get(name);
        if (known === undefined) ids.set(name, [id]);
        else known.push(id);
      });
      return ids;
    }),
  };
}

/** The changes since a revision. */
interface Since {
  readonly rowsOf: RowsOf;
  /** Rows of a menu that later revisions moved. */
  readonly movedIn: (menu: string) => ReadonlySet<number>;
  readonly isUnchanged: IsUnchangedSince;
  readonly references: ReferenceLookup;
  /** The revision and the later ones, oldest first. */
  readonly changes: () => readonly PastRevision[];
}

async function reasonNow(
  { rowsOf, movedIn, isUnchanged, references, changes }: Since,
  past: PastRevision,
  slicer: TimeSlicer,
): Promise<string> {
  const menus = [...new Set(past.changes.map(({ menu }) => menu))];
  const found: (readonly Conflict[])[] = [];
  for (const menu of menus) {
    const moved = past.changes.some((change) => change.menu === menu && isMove(change)) ? movedIn(menu) : NONE;
    found.push(await changedSince(rowsOf(menu), moved, menu, past, isUnchanged, slicer));
  }
  let conflicts: readonly Conflict[] = found.flat();
  if (conflicts.length === 0) conflicts = await namesStillReferenced(references, past);
  if (conflicts.length === 0) conflicts = await marksStillReferenced(references, past, rowsOf, changes);
  const [first, ...more] = conflicts;
  if (first === undefined) return '';
  return `${first.menu} ${first.name} ${first.why}${more.length > 0 ? `, and ${more.length} more` : ''}`;
}
