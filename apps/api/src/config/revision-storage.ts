import { FIRST_BUILTIN_ROW } from '@tollway/schema';
import { record as recordAction } from '../database/audit.js';
import type { Database } from '../database/client.js';
import { inTransaction } from '../database/transaction.js';
import { TimeSlicer } from '../scheduling/time-slicer.js';
import { rowIdText } from '../snapshot/snapshot.js';
import { type RowChange, type StoredRow, type StoredSnapshot, withoutRenumbered } from './draft.js';
import type { Undoing } from './undo/order-without.js';
import type { PastRevision, RankBefore, RevisionRanks, RowBefore } from './undo/revision.js';

/** The database side of the configuration: what is stored, and how a commit is written. */

export interface Author {
  /** Name of the user, or of {@link SYSTEM}. */
  readonly name: string;
  /** Address that the request came from; empty for the product itself. */
  readonly address: string;
  /** Client of the request; absent for the product itself. */
  readonly via?: 'web' | 'rest' | undefined;
  /** Called with each revision that is stored in the author's name. */
  readonly onRevision?: ((revision: number) => void) | undefined;
  /**
   * Returns the current name of the author, who may have been renamed or removed while waiting for other commits.
   * @throws ApiError when the author may no longer change anything
   */
  readonly confirm?: (() => string) | undefined;
}

/** Author with the current name. @throws ApiError when the author may change nothing any more */
export const confirmed = (author: Author): Author => ({ ...author, name: author.confirm?.() ?? author.name });

/** The product itself; no user can have this name. */
export const SYSTEM: Author = { name: 'system', address: '' };

/** Author for people: `admin from 192.0.2.7 via web`. */
export const authorText = ({ name, address, via }: Author): string =>
  `${name}${address === '' ? '' : ` from ${address}`}${via === undefined ? '' : ` via ${via}`}`;

interface RevisionRecord {
  readonly number: number;
  readonly author: Author;
  readonly summary: string;
  readonly sha256: string;
  readonly changes: readonly RowChange[];
  /** The revision that it undoes. */
  readonly undoes: number | undefined;
  /** Highest row id ever given. */
  readonly lastId: number;
}

/** Maximum number of revisions that are kept; the oldest ones are deleted. */
export const KEPT_REVISIONS = 1_000;
/** Largest size of the changes of kept revisions, bytes; the newest revision is kept whatever its size. */
const KEPT_BYTES = 64 * 1024 * 1024;

export interface StoredConfig {
  readonly snapshot: StoredSnapshot;
  /** Newest revision; 0 when there is none. */
  readonly revision: number;
  /** Highest row id ever given. */
  readonly lastId: number;
}

/** A stored configuration row is malformed. */
export class MalformedRow extends Error {}

/**
 * Reads the whole configuration.
 * @throws MalformedRow, or SyntaxError when the content of a row is not JSON
 */
export async function readConfig(db: Database): Promise<StoredConfig> {
  const [rows, head, sequence] = await Promise.all([
    db.configRow.findMany({ orderBy: [{ menu: 'asc' }, { rank: 'asc' }, { id: 'asc' }] }),
    db.revision.findFirst({ orderBy: { number: 'desc' } }),
    db.$queryRaw<{ seq: bigint | number }[]>`SELECT seq FROM sqlite_sequence WHERE name = 'ConfigRow'`,
  ]);
  const snapshot = new Map<string, StoredRow[]>();
  let lastId = Number(sequence[0]?.seq ?? 0);
  for (const { id, menu, rank, disabled, comment, data } of rows) {
    const menuRows = snapshot.get(menu) ?? [];
    if (typeof data !== 'object' || data === null || Array.isArray(data)) {
      throw new MalformedRow(`${rowIdText(id)} of ${menu} has no properties`);
    }
    menuRows.push({ id, rank, disabled, comment: comment ?? '', values: texts(data) });
    snapshot.set(menu, menuRows);
    if (id < FIRST_BUILTIN_ROW) lastId = Math.max(lastId, id);
  }
  return { snapshot, revision: head?.number ?? 0, lastId };
}

function texts(data: object): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, String(value)]));
}

/** A revision as it is listed. */
export interface RevisionLine {
  readonly number: number;
  readonly author: string;
  readonly via: string;
  readonly time: Date;
  readonly summary: string;
  /** The revision that it undoes. */
  readonly undoes: number | null;
  /** Number of rows that it changed. */
  readonly rows: number;
  /** Size of its changes in the database, bytes. */
  readonly size: number;
}

const LINE = {
  number: true,
  author: true,
  via: true,
  time: true,
  summary: true,
  undoes: true,
  rows: true,
  size: true,
} as const;

/** The revisions that are kept, newest first. */
export function readRevisions(db: Database): Promise<readonly RevisionLine[]> {
  return db.revision.findMany({ orderBy: { number: 'desc' }, take: KEPT_REVISIONS, select: LINE });
}

/** A revision by number; undefined when it is no longer kept. */
export async function readRevision(db: Database, number: number): Promise<RevisionLine | undefined> {
  return (await db.revision.findUnique({ where: { number }, select: LINE })) ?? undefined;
}

/** Changes of the revisions from `first` on, newest first. */
export async function readChangesFrom(db: Database, first: number): Promise<readonly PastRevision[]> {
  const found = await db.$queryRaw<{ number: bigint | number; diff: string }[]>`
    SELECT "number", json("diff") AS "diff" FROM "Revision" WHERE "number" >= ${first} ORDER BY "number" DESC`;
  return found.map(({ number, diff }) => {
    const changes: unknown = JSON.parse(diff);
    return { number: Number(number), changes: Array.isArray(changes) ? changes.flatMap(changeOf) : [] };
  });
}

/** The changes of one revision, `most` of them, starting with number `first`, counted from 0. */
export async function readChangesOf(
  db: Database,
  number: number,
  most: number,
  first = 0,
): Promise<readonly RowChange[]> {
  const found = await db.$queryRaw<{ change: string }[]>`
    SELECT "each"."value" AS "change" FROM "Revision", json_each("Revision"."diff") AS "each"
    WHERE "Revision"."number" = ${number} AND "each"."key" >= ${first} LIMIT ${most}`;
  return found.flatMap(({ change }) => changeOf(JSON.parse(change)));
}

/** Rows of a revision that are read by one statement: the driver blocks this thread. */
const PAGE = 2_000;

/** All changes of one revision, of which there may be a hundred thousand; none when it is no longer kept. */
export async function readAllChangesOf(db: Database, { number }: RevisionLine): Promise<readonly RowChange[]> {
  const slicer = new TimeSlicer();
  const changes: RowChange[] = [];
  for (let first = 0; ; first += PAGE) {
    const page = await readChangesOf(db, number, PAGE, first);
    for (const change of page) changes.push(change);
    if (page.length < PAGE) return changes;
    await slicer.pause();
  }
}

/**
 * Ranks and names of rows of some menus before the revisions after `number`, up to `last`, newest revision first. No
 * other content is read, as all kept changes may take {@link KEPT_BYTES}.
 */
export async function readRanksSince(
  db: Database,
  number: number,
  menus: readonly string[],
  last?: number,
): Promise<readonly RevisionRanks[]> {
  const slicer = new TimeSlicer();
  const later = await db.revision.findMany({
    where: { number: { gt: number, ...(last !== undefined && { lte: last }) } },
    orderBy: { number: 'desc' },
    select: { number: true, undoes: true },
  });
  const wanted = new Set(menus);
  const revisions: RevisionRanks[] = [];
  for (const { number: each, undoes } of later) {
    const changes: RankBefore[] = [];
    let full = true;
    for (let first = 0; full; first += PAGE) {
      if (slicer.over) await slicer.pause();
      // A full page may be followed by another one.
      const last = first + PAGE - 1;
      const found = await db.$queryRaw<
        { key: number; menu: string; id: number; rank: number | null; name: string | null }[]
      >`
        SELECT "key", "menu", "id", "rank", "name" FROM (
          SELECT "each"."key" AS "key", value ->> 'menu' AS "menu", value ->> 'id' AS "id", value -> 'before' ->> 'rank' AS "rank",
                 value -> 'before' -> 'values' ->> 'name' AS "name"
          FROM "Revision", json_each("Revision"."diff") AS "each"
          WHERE "Revision"."number" = ${each} AND "each"."key" >= ${first} LIMIT ${PAGE})
        WHERE "key" = ${last} OR "menu" IN (SELECT value FROM json_each(${JSON.stringify(menus)}))`;
      full = Number(found.at(-1)?.key ?? -1) === last;
      for (const { menu, id, rank, name } of found) {
        if (!wanted.has(menu)) continue;
        const before = rank === null ? undefined : { rank: Number(rank), name: name ?? undefined };
        changes.push({ menu, id: Number(id), ...(before && { before }) });
      }
    }
    revisions.push({ number: each, ...(undoes !== null && { undoes }), changes });
  }
  return revisions;
}

/**
 * Rows of some menus before the revisions from `first` on, oldest revision first. Read page by page, as there may be
 * many.
 */
export async function* readRowsBefore(
  db: Database,
  first: number,
  menus: readonly string[],
): AsyncGenerator<readonly RowBefore[]> {
  const slicer = new TimeSlicer();
  const revisions = await db.revision.findMany({
    where: { number: { gte: first } },
    orderBy: { number: 'asc' },
    select: { number: true },
  });
  for (const { number } of revisions) {
    for (let from = 0, full = true; full; from += PAGE) {
      if (slicer.over) await slicer.pause();
      // A full page may be followed by another one.
      const last = from + PAGE - 1;
      const found = await db.$queryRaw<{ key: number; change: string | null }[]>`
        SELECT "key", iif("wanted", "value", NULL) AS "change" FROM (
          SELECT "each"."key" AS "key", "each"."value" AS "value",
                 value ->> 'menu' IN (SELECT value FROM json_each(${JSON.stringify(menus)})) AS "wanted"
          FROM "Revision", json_each("Revision"."diff") AS "each"
          WHERE "Revision"."number" = ${number} AND "each"."key" >= ${from} LIMIT ${PAGE})
        WHERE "key" = ${last} OR "wanted"`;
      full = Number(found.at(-1)?.key ?? -1) === last;
      yield found.flatMap(({ change }) => (change === null ? [] : changeOf(JSON.parse(change))));
    }
  }
}

/** Revisions that undo others. */
export async function readUndoing(db: Database): Promise<readonly Undoing[]> {
  const found = await db.revision.findMany({
    where: { undoes: { not: null } },
    select: { number: true, undoes: true },
  });
  return found.flatMap(({ number, undoes }) => (undoes === null ? [] : { number, undoes }));
}

function changeOf(json: unknown): RowChange[] {
  const { menu, id, before, after, renumbered } = fieldsOf(json);
  if (typeof menu !== 'string' || typeof id !== 'number') return [];
  return [
    {
      menu,
      id,
      ...(before !== undefined && { before: rowOf(before) }),
      ...(after !== undefined && { after: rowOf(after) }),
      ...(renumbered === true && { renumbered }),
    },
  ];
}

function rowOf(json: unknown): StoredRow {
  const { id, rank, disabled, comment, values } = fieldsOf(json);
  return {
    id: Number(id),
    rank: Number(rank),
    disabled: disabled === true,
    comment: String(comment ?? ''),
    values: texts(fieldsOf(values)),
  };
}

const fieldsOf = (json: unknown): Readonly<Record<string, unknown>> =>
  typeof json === 'object' && json !== null ? Object.fromEntries(Object.entries(json)) : {};

/**
 * Writes a commit in one transaction. A second revision with the same parent is refused by the database.
 * @param writer a client that only the store uses, see {@link inTransaction}.
 */
export async function writeRevision(writer: Database, record: RevisionRecord): Promise<void> {
  const removed = record.changes.filter((change) => change.after === undefined).map((change) => change.id);
  const written = record.changes.flatMap(({ menu, id, after }) =>
    after === undefined
      ? []
      : [{ id, menu, rank: after.rank, disabled: after.disabled, comment: after.comment, data: after.values }],
  );
  await inTransaction(writer, async () => {
    // One statement for each kind of change, whatever the number of rows: see json_each in SQLite's documentation.
    await writer.$executeRaw`
      DELETE FROM "ConfigRow" WHERE "id" IN (SELECT value FROM json_each(${JSON.stringify(removed)}))`;
    await writer.$executeRaw`
      INSERT INTO "ConfigRow" ("id", "menu", "rank", "disabled", "comment", "data")
      SELECT value ->> 'id', value ->> 'menu', value ->> 'rank', value ->> 'disabled',
             nullif(value ->> 'comment', ''), value -> 'data'
      FROM json_each(${JSON.stringify(written)}) WHERE true
      ON CONFLICT ("id") DO UPDATE SET
        "rank" = excluded."rank", "disabled" = excluded."disabled",
        "comment" = excluded."comment", "data" = excluded."data"`;
    // SQLite records the highest id ever used. The ids of built-in items are not assigned in sequence and must not
    // count.
    if (written.some(({ id }) => id >= FIRST_BUILTIN_ROW)) {
      await writer.$executeRaw`UPDATE sqlite_sequence SET seq = ${record.lastId} WHERE name = 'ConfigRow'`;
    }
    const diff = JSON.stringify(record.changes);
    await writer.$executeRaw`
      INSERT INTO "Revision"
        ("number", "parent", "author", "via", "time", "summary", "undoes", "rows", "size", "sha256", "diff")
      VALUES (${record.number}, ${record.number - 1}, ${record.author.name}, ${record.author.via ?? ''},
        ${new Date().toISOString()}, ${record.summary}, ${record.undoes ?? null}, ${withoutRenumbered(record.changes).length},
        ${diff.length}, ${record.sha256}, jsonb(${diff}))`;
    await writer.$executeRaw`
      DELETE FROM "Revision" WHERE "number" < ${record.number} AND ("number" <= ${record.number - KEPT_REVISIONS}
        OR "number" <= (SELECT max("number") FROM (
          SELECT "number", sum("size") OVER (ORDER BY "number" DESC) AS "total" FROM "Revision"
        ) WHERE "total" > ${KEPT_BYTES}))`;
    await recordAction(writer, {
      user: record.author.name,
      address: record.author.address,
      action: 'config',
      detail: `${record.summary}${record.author.via === undefined ? '' : ` via ${record.author.via}`}`,
      revision: record.number,
    });
  });
}
