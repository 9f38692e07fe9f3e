import { PART } from '../agent/queues.js';
import type { ConfigStore } from '../config/store.js';
import type { Database } from '../database/client.js';
import type { LiveState } from '../state/live-state.js';

/** How often the counters are read, ms: what a data plane has counted since is lost when it dies. */
const READ_MS = 10_000;
/** How often what was read is stored, ms. */
const STORE_MS = 60_000;
/** Rows of one statement. */
const BATCH = 500;

const MENUS = ['/queue/simple', '/queue/tree'] as const;

/** Bytes from and to the targets; of a node of a tree all of them are in `download`. */
interface Bytes {
  readonly upload: bigint;
  readonly download: bigint;
}

/** What a queue has carried today, and where its counters stood. */
interface Meter {
  menu: string;
  name: string;
  day: string;
  carried: Bytes;
  seen: Bytes;
  run: string;
  stored: boolean;
}

/** A queue's day, as it is told. */
export interface QueueDay {
  readonly row: number;
  readonly menu: string;
  readonly name: string;
  readonly day: string;
  readonly upload: bigint;
  readonly download: bigint;
}

/** A queue's day as the driver hands it out: integers come in either form. */
interface Stored {
  readonly row: bigint | number;
  readonly menu: string;
  readonly name: string;
  readonly upload: bigint | number;
  readonly download: bigint | number;
}

/** `2026-11-22`, in the router's local time. */
export function localDay(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** What came since the counter was seen: all of it when it has begun at zero again. */
const since = (now: bigint, seen: bigint): bigint => (now >= seen ? now - seen : now);

/**
 * Bytes per queue and day. The data plane counts from its start or the last reset on; here the differences are added up,
 * and stored with the counters they were taken from, so that nothing is added twice and nothing is left out when either
 * side is restarted.
 */
export class QueueAccounting {
  readonly #db: Database;
  readonly #store: ConfigStore;
  readonly #live: LiveState;
  readonly #failed: (error: unknown) => void;
  readonly #clock: () => Date;
  readonly #keepDays: number;
  readonly #meters = new Map<number, Meter>();
  #loaded = false;
  #turn: Promise<void> = Promise.resolve();
  #timers: ReturnType<typeof setInterval>[] = [];
  #pruned = '';

  constructor(
    db: Database,
    store: ConfigStore,
    live: LiveState,
    failed: (error: unknown) => void,
    keepDays: number,
    clock: () => Date = () => new Date(),
  ) {
    this.#db = db;
    this.#store = store;
    this.#live = live;
    this.#failed = failed;
    this.#keepDays = keepDays;
    this.#clock = clock;
  }

  /** Reads and stores from now on. */
  start(): void {
    const every = (ms: number, work: () => Promise<void>) =>
      setInterval(() => {
        work().catch(this.#failed);
      }, ms).unref();
    this.#timers = [every(READ_MS, () => this.read()), every(STORE_MS, () => this.flush())];
  }

  /** Stores what there is, for the last time. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.flush();
  }

  /** Adds what the queues have carried since the last time. */
  read(): Promise<void> {
    return this.#inTurn(() => this.#read());
  }

  /** Adds and stores. */
  flush(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#read();
      await this.#flush();
    });
  }

  /** Counters are set to zero by `reset`; what they had until then is added before. */
  aroundReset(reset: () => Promise<unknown>): Promise<void> {
    return this.#inTurn(async () => {
      await this.#read();
      await reset();
      await this.#rebase();
    });
  }

  /**
   * What was carried on days `from` to `to`, oldest first, then by name; of one queue if `row` is given. A day at a
   * time: a month of 25,000 queues is not held in memory.
   */
  async *days(from: string, to: string, row?: number): AsyncGenerator<readonly QueueDay[], void> {
    await this.flush();
    const only = row ?? -1;
    const days = await this.#db.$queryRaw<{ day: string }[]>`
      SELECT DISTINCT "day" FROM "QueueDay"
      WHERE "day" BETWEEN ${from} AND ${to} AND (${only} < 0 OR "row" = ${only}) ORDER BY "day"`;
    for (const { day } of days) {
      // Prisma's own query takes five times as long for this many rows.
      const rows = await this.#db.$queryRaw<Stored[]>`
        SELECT "row", "menu", "name", "upload", "download" FROM "QueueDay"
        WHERE "day" = ${day} AND (${only} < 0 OR "row" = ${only}) ORDER BY "name", "row"`;
      yield rows.map(({ row: id, menu, name, upload, download }) => ({
        row: Number(id),
        menu,
        name,
        day,
        upload: BigInt(upload),
        download: BigInt(download),
      }));
    }
  }

  /** One after the other: two readings at once would add the same bytes twice. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #read(): Promise<void> {
    await this.#load();
    const now = await this.#counters();
    if (now === undefined) return;
    const day = localDay(this.#clock());
    for (const { row, menu, name, bytes } of now.queues) {
      const before = this.#meters.get(row);
      const seen = before?.run === now.run ? before.seen : { upload: 0n, download: 0n };
      const upload = since(bytes.upload, seen.upload);
      const download = since(bytes.download, seen.download);
      const same = before?.day === day && before.name === name;
      if (same && upload === 0n && download === 0n && before.run === now.run) continue;
      // A day begins with the first byte of it.
      if (before?.day !== day && upload === 0n && download === 0n) continue;
      const today = before?.day === day ? before.carried : { upload: 0n, download: 0n };
      this.#meters.set(row, {
        menu,
        name,
        day,
        carried: { upload: today.upload + upload, download: today.download + download },
        seen: bytes,
        run: now.run,
        stored: false,
      });
    }
  }

  /** Takes the counters as they are for counted. */
  async #rebase(): Promise<void> {
    const now = await this.#counters();
    for (const { row, bytes } of now?.queues ?? []) {
      const meter = this.#meters.get(row);
      if (meter !== undefined) Object.assign(meter, { seen: bytes, stored: false });
    }
  }

  async #counters() {
    const [dump, stats] = [await this.#live.queues(), await this.#live.stats()];
    if (dump === undefined || stats === undefined) return undefined;
    // The monotonic clock of the machine when the data plane began, s.
    const run = `${this.#live.agent.hello?.pid ?? 0}@${Math.round((stats['now-ns'] - stats['uptime-ns']) / 1e9)}`;
    const queues = MENUS.flatMap((menu) =>
      (this.#store.snapshot.get(menu) ?? []).map((row) => {
        const read = (part: (typeof PART)[keyof typeof PART]) => dump.value(row.id, part, 'bytes') ?? 0n;
        const bytes: Bytes =
          menu === '/queue/tree'
            ? { upload: 0n, download: read(PART.whole) }
            : { upload: read(PART.upload), download: read(PART.download) };
        return { row: row.id, menu, name: row.values.name ?? '', bytes };
      }),
    );
    return { run, queues };
  }

  /** Goes on where the last run of this program ended. */
  async #load(): Promise<void> {
    if (this.#loaded) return;
    const newest = await this.#db.$queryRawUnsafe<{ row: bigint | number; day: string }[]>(
      'SELECT "row", MAX("day") AS "day" FROM "QueueDay" GROUP BY "row"',
    );
    const days = new Map(newest.map(({ row, day }) => [Number(row), day]));
    const stored = await this.#db.queueDay.findMany({ where: { day: { in: [...new Set(days.values())] } } });
    for (const { row, day, menu, name, upload, download, seenUpload, seenDownload, run } of stored) {
      if (days.get(row) !== day) continue;
      const seen = { upload: seenUpload, download: seenDownload };
      this.#meters.set(row, { menu, name, day, carried: { upload, download }, seen, run, stored: true });
    }
    this.#loaded = true;
  }

  async #flush(): Promise<void> {
    const changed = [...this.#meters].filter(([, meter]) => !meter.stored);
    for (let at = 0; at < changed.length; at += BATCH) {
      const batch = changed.slice(at, at + BATCH);
      const values = batch.flatMap(([row, { day, menu, name, carried, seen, run }]) => [
        ...[row, day, menu, name, carried.upload, carried.download, seen.upload, seen.download, run],
      ]);
      const places = batch.map(() => '(?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ');
      // One statement: a queue's bytes are never stored without the counters that they were taken from.
      await this.#db.$executeRawUnsafe(
        `INSERT INTO "QueueDay" ("row", "day", "menu", "name", "upload", "download", "seenUpload", "seenDownload", "run")
         VALUES ${places}
         ON CONFLICT ("row", "day") DO UPDATE SET "name" = excluded."name", "upload" = excluded."upload",
           "download" = excluded."download", "seenUpload" = excluded."seenUpload",
           "seenDownload" = excluded."seenDownload", "run" = excluded."run"`,
        ...values,
      );
      for (const [, meter] of batch) meter.stored = true;
    }
    await this.#prune();
  }

  /** Forgets what is older than the days that are kept, once a day. */
  async #prune(): Promise<void> {
    const now = this.#clock();
    const today = localDay(now);
    if (this.#pruned === today) return;
    const oldest = localDay(new Date(now.getTime() - this.#keepDays * 86_400_000));
    await this.#db.queueDay.deleteMany({ where: { day: { lt: oldest } } });
    this.#pruned = today;
  }
}
