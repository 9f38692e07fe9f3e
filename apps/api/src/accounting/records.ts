import type { Database } from '../database/client.js';
import { inTransaction } from '../database/transaction.js';

/** Rows of one statement: it takes a few milliseconds, in which nothing else runs. */
export const BATCH = 500;

/** Bytes from and to the targets; of a node of a tree all of them are in `download`. */
export interface Bytes {
  readonly upload: bigint;
  readonly download: bigint;
}

/** What a queue carried on a day. */
export interface Carried extends Bytes {
  readonly menu: string;
  readonly name: string;
}

/** A queue's day. */
export interface QueueDay extends Carried {
  readonly row: number;
  readonly day: string;
}

/** Where a queue's counters stood. */
export interface Meter {
  /** The last day on which it carried anything. */
  readonly day: string;
  readonly seen: Bytes;
  /** Which run of the data plane the counters are of. */
  readonly run: string;
}

/** What has come since the last time, to be added. */
interface Added {
  readonly carried: readonly QueueDay[];
  readonly meters: readonly (readonly [row: number, meter: Meter])[];
  /** Rows that are gone, with their meters. */
  readonly removed: readonly number[];
}

/** Integers as the driver hands them out: in either form. */
type Integer = bigint | number;

interface StoredDay {
  readonly row: Integer;
  readonly day: string;
  readonly menu: string;
  readonly name: string;
  readonly upload: Integer;
  readonly download: Integer;
}

interface StoredMeter {
  readonly row: Integer;
  readonly day: string;
  readonly run: string;
  readonly seenUpload: Integer;
  readonly seenDownload: Integer;
}

const queueDay = ({ row, day, menu, name, upload, download }: StoredDay): QueueDay => ({
  row: Number(row),
  day,
  menu,
  name,
  upload: BigInt(upload),
  download: BigInt(download),
});

/** Days and meters of queues in the database. Every call is one piece of work of a few milliseconds. */
export class QueueRecords {
  readonly #db: Database;

  /** @param db a client that nothing else uses, see {@link inTransaction}. */
  constructor(db: Database) {
    this.#db = db;
  }

  /** Adds to days, together with the counters that it was taken from: never one without the other. */
  async add({ carried, meters, removed }: Added): Promise<void> {
    const days = carried.map(({ row, day, menu, name, upload, download }) => [
      ...[row, day, menu, name, String(upload), String(download)],
    ]);
    const stood = meters.map(([row, { day, run, seen }]) => [
      row,
      day,
      run,
      String(seen.upload),
      String(seen.download),
    ]);
    await inTransaction(this.#db, async () => {
      // One argument for all rows: see json_each in SQLite's documentation. 64 bits are more than JSON's numbers hold.
      await this.#db.$executeRaw`
        INSERT INTO "QueueDay" ("row", "day", "menu", "name", "upload", "download")
        SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3,
               CAST(value ->> 4 AS INTEGER), CAST(value ->> 5 AS INTEGER)
        FROM json_each(${JSON.stringify(days)}) WHERE true
        ON CONFLICT ("row", "day") DO UPDATE SET "name" = excluded."name",
          "upload" = "upload" + excluded."upload", "download" = "download" + excluded."download"`;
      await this.#db.$executeRaw`
        INSERT INTO "QueueMeter" ("row", "day", "run", "seenUpload", "seenDownload")
        SELECT value ->> 0, value ->> 1, value ->> 2, CAST(value ->> 3 AS INTEGER), CAST(value ->> 4 AS INTEGER)
        FROM json_each(${JSON.stringify(stood)}) WHERE true
        ON CONFLICT ("row") DO UPDATE SET "day" = excluded."day", "run" = excluded."run",
          "seenUpload" = excluded."seenUpload", "seenDownload" = excluded."seenDownload"`;
      if (removed.length === 0) return;
      await this.#db.$executeRaw`
        DELETE FROM "QueueMeter" WHERE "row" IN (SELECT value FROM json_each(${JSON.stringify(removed)}))`;
    });
  }

  /** Meters of rows above `after`, in their order; none when there are no more. */
  async metersAfter(after: number): Promise<(readonly [row: number, meter: Meter])[]> {
    const rows = await this.#db.$queryRaw<StoredMeter[]>`
      SELECT * FROM "QueueMeter" WHERE "row" > ${after} ORDER BY "row" LIMIT ${BATCH}`;
    return rows.map(({ row, day, run, seenUpload, seenDownload }) => [
      Number(row),
      { day, run, seen: { upload: BigInt(seenUpload), download: BigInt(seenDownload) } },
    ]);
  }

  /** A part of a day: queues above row `after`, in their order; none when there are no more. */
  async partOfDay(day: string, after: number): Promise<QueueDay[]> {
    const rows = await this.#db.$queryRaw<StoredDay[]>`
      SELECT * FROM "QueueDay" WHERE "day" = ${day} AND "row" > ${after} ORDER BY "row" LIMIT ${BATCH}`;
    return rows.map(queueDay);
  }

  /** Days of one queue, oldest first. */
  async daysOf(row: number, from: string, to: string): Promise<QueueDay[]> {
    const rows = await this.#db.$queryRaw<StoredDay[]>`
      SELECT * FROM "QueueDay" WHERE "row" = ${row} AND "day" BETWEEN ${from} AND ${to} ORDER BY "day"`;
    return rows.map(queueDay);
  }

  /** The days that there are, newest first, each found by the one after it: what they hold is not walked through. */
  async days(from: string, to: string): Promise<string[]> {
    const rows = await this.#db.$queryRaw<{ day: string }[]>`
      WITH RECURSIVE known(day) AS (
        SELECT MAX("day") FROM "QueueDay" WHERE "day" <= ${to}
        UNION ALL
        SELECT (SELECT MAX("day") FROM "QueueDay" WHERE "day" < known.day) FROM known WHERE known.day >= ${from}
      ) SELECT day FROM known WHERE day >= ${from}`;
    return rows.map(({ day }) => day);
  }

  /** Removes a part of a day; false when nothing is left of it. */
  async removeFrom(day: string): Promise<boolean> {
    const removed = await this.#db.$executeRaw`
      DELETE FROM "QueueDay" WHERE "day" = ${day}
      AND "row" IN (SELECT "row" FROM "QueueDay" WHERE "day" = ${day} ORDER BY "row" LIMIT ${BATCH})`;
    return removed === BATCH;
  }
}
