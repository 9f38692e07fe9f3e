import type { Database } from '../database/client.js';
import { inTransaction } from '../database/transaction.js';

/** Rows per statement; one blocks the event loop for a few milliseconds. */
export const BATCH = 500;

/**
 * Bytes from the targets (upload) and to the targets (download). A queue of a tree counts all its bytes as `download`.
 */
export interface Bytes {
  readonly upload: bigint;
  readonly download: bigint;
}

/** Bytes of a queue on a day. */
export interface Carried extends Bytes {
  readonly menu: string;
  readonly name: string;
}

/** The record of a queue and a day. */
export interface QueueDay extends Carried {
  readonly row: number;
  readonly day: string;
}

/** Counters of a queue at a reading. */
export interface Meter {
  /** The last day with any traffic. */
  readonly day: string;
  readonly seen: Bytes;
  /** Run of the data plane that the counters belong to. */
  readonly run: string;
}

/** Changes since the last write. */
interface Added {
  readonly carried: readonly QueueDay[];
  readonly meters: readonly (readonly [row: number, meter: Meter])[];
  /** Removed rows. */
  readonly removed: readonly number[];
}

/** Integers as the driver returns them, in either form. */
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

/** Days and meters of queues in the database. Each call blocks for a few milliseconds at most. */
export class QueueRecords {
  readonly #db: Database;

  /** @param db a client that nothing else uses, see {@link inTransaction}. */
  constructor(db: Database) {
    this.#db = db;
  }

  /** Adds bytes to days and stores the counters that they were taken from, in one transaction. */
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
      // All rows are passed as one JSON argument (json_each of SQLite). Texts, as JSON numbers cannot hold 64 bits.
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

  /** Meters of the rows with ids above `after`, ascending by id; empty when there are no more. */
  async metersAfter(after: number): Promise<(readonly [row: number, meter: Meter])[]> {
    const rows = await this.#db.$queryRaw<StoredMeter[]>`
      SELECT * FROM "QueueMeter" WHERE "row" > ${after} ORDER BY "row" LIMIT ${BATCH}`;
    return rows.map(({ row, day, run, seenUpload, seenDownload }) => [
      Number(row),
      { day, run, seen: { upload: BigInt(seenUpload), download: BigInt(seenDownload) } },
    ]);
  }

  /** A part of a day: queues with ids above `after`, ascending by id; empty when there are no more. */
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

  /**
   * The days with records, newest first. Each is found by an index look-up from the one after it, without a scan of their
   * records.
   */
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
