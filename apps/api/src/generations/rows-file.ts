import { createHash } from 'node:crypto';
import type { RowChange, StoredRow, StoredSnapshot } from '../config/draft.js';
import { SYSTEM } from '../config/revision-storage.js';

/**
 * Copies of the configuration rows beside the database, from which it can be restored. A file `<revision>.rows` holds
 * all rows and users at that revision, followed by the changes of later revisions. Each line consists of
 * 16 hex digits of the SHA-256 of the JSON, a space, and the JSON. Lines after a damaged one are ignored.
 */

const FORMAT = 1;

/** A user in a kept generation. The password hash alone permits no login. */
export interface KeptUser {
  /** Row id; absent in files of earlier versions. */
  readonly id?: number;
  readonly name: string;
  readonly group: string;
  readonly disabled: boolean;
  readonly comment: string;
  readonly passwordHash: string | null;
}

/** All users at the time of a copy. */
export interface KeptUsers {
  readonly users: readonly KeptUser[];
  /** Number of changes of users up to that time. */
  readonly changes: number;
}

/** Description of a revision, for people who choose one. */
interface GenerationHead {
  readonly revision: number;
  /** ISO 8601. */
  readonly time: string;
  readonly author: string;
  readonly summary: string;
}

/** The configuration as it was at a revision. */
export interface Generation extends GenerationHead {
  readonly lastId: number;
  readonly rows: readonly (StoredRow & { readonly menu: string })[];
}

type Line =
  | ({ kind: 'base'; format: number; database?: string; rows: number; lastId: number } & GenerationHead)
  | { kind: 'row'; row: StoredRow & { menu: string } }
  | { kind: 'users'; users: readonly KeptUser[]; changes?: number }
  | ({
      kind: 'change';
      lastId: number;
      changes: readonly { menu: string; id: number; after?: StoredRow }[];
    } & GenerationHead);

const sum = (json: string): string => createHash('sha256').update(json).digest('hex').slice(0, 16);

function lineOf(line: Line): string {
  const json = JSON.stringify(line);
  return `${sum(json)} ${json}\n`;
}

export const usersLine = (kept: KeptUsers): string => lineOf({ kind: 'users', ...kept });

export function changeLine(head: GenerationHead, lastId: number, changes: readonly RowChange[]): string {
  const kept = changes.map(({ menu, id, after }) => ({ menu, id, ...(after !== undefined && { after }) }));
  return lineOf({ kind: 'change', ...head, lastId, changes: kept });
}

/** Rows written in one slice. */
const SLICE = 2_000;

/**
 * The lines of the whole present configuration, one slice at a time.
 * @param database identity of the database that stores it
 */
export function* baseLines(
  database: string,
  revision: number,
  lastId: number,
  snapshot: StoredSnapshot,
  users: KeptUsers,
): Generator<string> {
  const head = { revision, time: new Date().toISOString(), author: SYSTEM.name, summary: 'as it was then' };
  const count = [...snapshot.values()].reduce((total, rows) => total + rows.length, 0);
  yield lineOf({ kind: 'base', format: FORMAT, database, ...head, lastId, rows: count });
  for (const [menu, rows] of snapshot) {
    for (let at = 0; at < rows.length; at += SLICE) {
      yield rows
        .slice(at, at + SLICE)
        .map((row) => lineOf({ kind: 'row', row: { menu, ...row } }))
        .join('');
    }
  }
  yield usersLine(users);
}

/** Content of a file. */
export interface RowsFile {
  /** Identity of the database; absent in files of earlier versions. */
  readonly database: string | undefined;
  /** The revisions in the file, in order; the first one is the whole configuration. */
  readonly heads: readonly GenerationHead[];
  /** The newest users, who are not part of a revision. In files of earlier versions the number of changes is 0. */
  readonly users: KeptUsers;
  /** Whether the end of the file is neither damaged nor cut off. */
  readonly isWhole: boolean;
  /** The configuration at one of the revisions. */
  at(revision: number): Generation | undefined;
}

/** Reads the content of a file; undefined when its first configuration is damaged. */
export function readRows(text: string): RowsFile | undefined {
  const { lines, isWhole } = wholeLines(text);
  const [base] = lines;
  if (base?.kind !== 'base' || base.format !== FORMAT) return undefined;
  const rows = lines.slice(1, 1 + base.rows);
  const rest = lines.slice(1 + base.rows);
  if (rows.length !== base.rows || rows.some(({ kind }) => kind !== 'row') || rest[0]?.kind !== 'users') {
    return undefined;
  }
  const heads = [base, ...rest.flatMap((line) => (line.kind === 'change' ? [line] : []))].map(headOf);
  const last = rest.findLast((line) => line.kind === 'users');
  const users = { users: last?.users ?? [], changes: last?.changes ?? 0 };
  return {
    database: base.database,
    heads,
    users,
    isWhole,
    at(revision) {
      const head = heads.find((each) => each.revision === revision);
      if (head === undefined) return undefined;
      const now = new Map(rows.flatMap((line) => (line.kind === 'row' ? [[line.row.id, line.row]] : [])));
      let { lastId } = base;
      for (const line of rest) {
        if (line.kind === 'change' && line.revision <= revision) {
          lastId = line.lastId;
          for (const { menu, id, after } of line.changes) {
            if (after === undefined) now.delete(id);
            else now.set(id, { menu, ...after });
          }
        }
      }
      return { ...head, lastId, rows: [...now.values()] };
    },
  };
}

const headOf = ({ revision, time, author, summary }: GenerationHead): GenerationHead => ({
  revision,
  time,
  author,
  summary,
});

/** The lines before the first damaged one. */
function wholeLines(text: string): { readonly lines: readonly Line[]; readonly isWhole: boolean } {
  const lines: Line[] = [];
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at);
    const json = text.slice(at + 17, end);
    if (end < 0 || text.slice(at, at + 16) !== sum(json)) return { lines, isWhole: false };
    // The checksum has verified the JSON.
    lines.push(JSON.parse(json) as Line);
    at = end + 1;
  }
  return { lines, isWhole: true };
}
