import { AgentGone, AgentRefusal } from '../agent/messages.js';
import { ApiError } from '../errors.js';

/** Faults that make the database unusable, described for people. */

type FaultKind =
  | 'gone'
  | 'lost'
  | 'empty'
  | 'damaged'
  | 'foreign'
  | 'newer'
  | 'older'
  | 'other'
  | 'no-users'
  | 'full'
  | 'no-room'
  | 'read-only'
  | 'locked'
  | 'unreadable'
  | 'unusable'
  | 'no-log';

/** Faults that may pass without a change of the file. */
const PASSING: readonly FaultKind[] = ['full', 'no-room', 'read-only', 'locked', 'unreadable'];

const REBUILD =
  'Stop the router and start it as before with --restore added (npm start -- --restore): that rebuilds the database from the last configuration';
const RESTORE = `${REBUILD} and keeps the old file`;

/** Remedy where there are no copies to restore. */
const PUT_BACK =
  'Put back the database or the folder generations beside it from a backup; to set the router up anew, stop it and move its data folder away';

const TEXTS: Readonly<Record<FaultKind, readonly [problem: string, remedy: string]>> = {
  gone: ['is gone', REBUILD],
  lost: ['is gone, and no copy of its configuration in the folder generations beside it can be read', PUT_BACK],
  empty: ['is empty, and this router has been set up', RESTORE],
  damaged: ['is damaged', RESTORE],
  foreign: [
    'was made by another program',
    `Nothing in it was changed. Move it away, or start with another --data-dir; if this router has been set up: ${RESTORE}`,
  ],
  newer: [
    'was made by a newer version of Tollway',
    'Start that version again, or start this one as before with --restore added (npm start -- --restore): that goes back to the last configuration known here and keeps the newer file',
  ],
  older: ['is older than the configuration that this router had last', RESTORE],
  other: [
    'is not that of this router, but of another one',
    `${RESTORE}. To have a router that is what the other one is, start it with a new data folder, of this database alone`,
  ],
  'no-users': ['has no user who may log in, and this router has been set up', RESTORE],
  full: ['cannot be written: the disk is full', 'Free some space; management goes on by itself then'],
  'no-room': [
    'has no room beside it for another configuration: the disk is nearly full',
    'Free some space; management goes on by itself then',
  ],
  'read-only': [
    'cannot be written: the file or its file system is read-only',
    'Make it writable; management goes on by itself then',
  ],
  locked: ['is locked by another program', 'End that program; management goes on by itself then'],
  unusable: ['cannot be used', RESTORE],
  'no-log': ['has lost the file that its last changes are in, which ends in -wal', RESTORE],
  unreadable: ['cannot be opened', 'Look at its permissions and at the disk; management goes on by itself then'],
};

const BACK_IN_PLACE = 'Put the file back into its place; management goes on by itself then';

/** Remedies without `--restore`, for routers without copies; {@link PUT_BACK} applies to both. */
const WITHOUT_COPIES: Readonly<Partial<Record<FaultKind, string>>> = {
  gone: 'Do not stop the router before the data folder is back, or the database or the folder generations beside it from a backup: no other copy of its configuration is left',
  foreign: 'Nothing in it was changed. Move it away, or start with another --data-dir',
  newer: 'Start that version again',
  unreadable: BACK_IN_PLACE,
};

/** The database cannot be used. The message is one sentence; {@link remedy} says what to do. */
export class DatabaseFault extends Error {
  readonly #detail: string;

  constructor(
    readonly kind: FaultKind,
    /** Path of the database. */
    readonly file: string,
    detail = '',
    cause?: unknown,
    readonly remedy = `${TEXTS[kind][1]}.`,
  ) {
    const [problem] = TEXTS[kind];
    super(`The database ${file} ${problem}${detail === '' ? '' : ` (${detail})`}.`, { cause });
    this.name = 'DatabaseFault';
    this.#detail = detail;
  }

  /** Fault of a database of which a file is no regular file. */
  static noFile(file: string, place: string): DatabaseFault {
    const remedy = `${BACK_IN_PLACE}. Where it is lost: ${RESTORE}.`;
    return new DatabaseFault('unreadable', file, `${place} is no file`, undefined, remedy);
  }

  /** The same fault where the newest copies are damaged, so that `--restore` must name a revision. */
  naming(revision: number): DatabaseFault {
    const remedy = this.remedy
      .replaceAll('--restore', `--restore ${revision}`)
      .replace(
        /the last configuration( known here)?/,
        `revision ${revision}, the last of which there is a whole copy, with the users of that time,`,
      )
      .replace(/,(?=\.$)/, '');
    return new DatabaseFault(this.kind, this.file, this.#detail, this.cause, remedy);
  }

  /** The same fault where there are no copies to restore. */
  withoutCopies(): DatabaseFault {
    if (!this.remedy.includes('--restore')) return this;
    const remedy = WITHOUT_COPIES[this.kind] ?? PUT_BACK;
    return new DatabaseFault(this.kind, this.file, this.#detail, this.cause, `${remedy}.`);
  }

  /** True for a fault that may pass while the file stays as it is. */
  get passing(): boolean {
    return PASSING.includes(this.kind);
  }

  /** Sentence about the fault and its remedy. */
  get text(): string {
    return `${this.message} ${this.remedy}`;
  }
}

/** Ignores faults of the database, and no other errors; for writes that may be lost. */
export function unlessFault(error: unknown): void {
  if (faultOf(error, '') === undefined) throw error;
}

/** Patterns in errors of SQLite and of the system, the more specific ones first. */
const SIGNS: readonly (readonly [RegExp, FaultKind])[] = [
  [/SQLITE_NOTADB|SQLITE_CORRUPT|file is not a database|image is malformed|no such (?:table|column):/, 'damaged'],
  [/SQLITE_FULL|disk is full|ENOSPC|EDQUOT/, 'full'],
  [/SQLITE_READONLY|readonly database|EROFS/, 'read-only'],
  // For a database that another process writes the driver reports a time-out.
  [/SQLITE_BUSY|SQLITE_LOCKED|database is locked|Operation has timed out/, 'locked'],
  [
    /SQLITE_CANTOPEN|SQLITE_IOERR|disk I\/O error|[Uu]nable to open|EACCES|EPERM|EIO|EISDIR|ENOTDIR|ELOOP/,
    'unreadable',
  ],
];

/** Fault of the database that caused an error; undefined for other errors. */
export function faultOf(error: unknown, file: string): DatabaseFault | undefined {
  if (error instanceof DatabaseFault) return error;
  if (isAboutRequest(error)) return undefined;
  const text = wordsOf(error);
  const kind = SIGNS.find(([sign]) => sign.test(text))?.[1];
  return kind === undefined ? undefined : new DatabaseFault(kind, file, '', error);
}

/** Errors whose texts quote a request or the agent: they are not searched for faults. */
function isAboutRequest(error: unknown): boolean {
  if (error instanceof ApiError || error instanceof AgentRefusal || error instanceof AgentGone) return true;
  const status: unknown = error instanceof Error ? Reflect.get(error, 'statusCode') : undefined;
  return typeof status === 'number' && status < 500;
}

/** Texts of an error and of its causes. */
function wordsOf(error: unknown): string {
  const texts: string[] = [];
  for (let next = error, depth = 0; typeof next === 'object' && next !== null && depth < 5; depth += 1) {
    const fields = Object.fromEntries(
      ['message', 'code', 'originalMessage', 'originalCode'].map((name) => [name, Reflect.get(next as object, name)]),
    );
    texts.push(...Object.values(fields).flatMap((value) => (typeof value === 'string' ? [value] : [])));
    const meta: unknown = Reflect.get(next, 'meta');
    if (meta !== undefined) texts.push(JSON.stringify(meta));
    next = Reflect.get(next, 'cause');
  }
  return texts.join('\n');
}
