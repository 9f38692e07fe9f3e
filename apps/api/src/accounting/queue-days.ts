import { hasOneDirection, QUEUE_MENUS, type QueueMenu } from '@tollway/protocol/queue-menus';
import { compareTexts } from '@tollway/schema';
import type { Queues, Stats } from '../agent/messages.js';
import { PART, QueueDump } from '../agent/queues.js';
import { sorted, upTo } from '../scheduling/merge-sort.js';
import { TimeSlicer } from '../scheduling/time-slicer.js';
import type { ConfigSnapshot, Row } from '../snapshot/snapshot.js';
import { BATCH, type Bytes, type Carried, type Meter, type QueueDay, type QueueRecords } from './records.js';

/** Interval between readings, ms. Bytes counted since the last reading are lost when the data plane crashes. */
const READ_MS = 10_000;
/** Interval between database writes, ms. */
const STORE_MS = 60_000;
/** First year of a clock that has been set: machines without a battery-backed clock start in 1970. */
const FIRST_YEAR = 2020;
/** Maximum number of parts of old days removed in one pass, so that the removal does not delay readings. */
const MAX_REMOVED = 100;

const DAY_MS = 86_400_000;

/** `2026-11-22`, in the router's local time. */
export function localDay(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

const NOTHING: Bytes = { upload: 0n, download: 0n };

/** Growth of a counter since `seen`; the whole value when it has restarted at zero. */
const since = (now: bigint, seen: bigint): bigint => (now >= seen ? now - seen : now);

const equal = (a: Bytes, b: Bytes): boolean => a.upload === b.upload && a.download === b.download;

/** Dependencies of the accounting. */
interface Sources {
  readonly store: { readonly snapshot: ConfigSnapshot };
  readonly live: {
    readonly agent: { readonly hello: { readonly pid: number } | undefined };
    queues(): Promise<Pick<QueueDump, 'value'> | undefined>;
    stats(): Promise<Pick<Stats, 'now-ns' | 'uptime-ns'> | undefined>;
  };
  readonly failed: (error: unknown) => void;
}

/**
 * Bytes per queue and day. The data plane counts from its start or the last reset; here the differences are added to the
 * current day and stored in one transaction with the counters that they were taken from. So nothing is added twice or left
 * out when either process restarts or the clock is set.
 */
export class QueueAccounting {
  readonly #records: QueueRecords;
  readonly #sources: Sources;
  readonly #keepDays: number;
  readonly #meters = new Map<number, Meter & { readonly name: string }>();
  /** Bytes that are not stored yet, by day and row. */
  readonly #unstored = new Map<string, Map<number, Carried>>();
  /** Rows whose meter has changed since it was stored, including all rows of `#unstored`. */
  readonly #moved = new Set<number>();
  #loaded = false;
  #turn: Promise<void> = Promise.resolve();
  /** A reading that is queued and has not begun. */
  #asked: Promise<void> | undefined;
  /** Queued readings of days for reports. */
  readonly #askedDays = new Map<string, Promise<readonly QueueDay[]>>();
  #timers: ReturnType<typeof setInterval>[] = [];
  #pruned = '';

  /** @param keepDays how many days are kept. */
  constructor(records: QueueRecords, sources: Sources, keepDays: number) {
    this.#records = records;
    this.#sources = sources;
    this.#keepDays = keepDays;
  }

  /** Starts the periodic readings and writes. */
  start(): void {
    const every = (ms: number, work: () => Promise<void>) =>
      setInterval(() => {
        work().catch(this.#sources.failed);
      }, ms).unref();
    this.#timers = [every(READ_MS, () => this.read()), every(STORE_MS, () => this.flush())];
  }

  /** Stops the periodic readings and writes, after a final write. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.flush();
  }

  /** Adds the bytes since the last reading. Callers that come before a queued reading has begun share it. */
  read(): Promise<void> {
    this.#asked ??= this.#inTurn(() => {
      this.#asked = undefined;
      return this.#read();
    });
    return this.#asked;
  }

  /** Reads the counters and stores the result. */
  flush(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#read();
      await this.#flush();
      await this.#prune();
    });
  }

  /**
   * Resets counters by calling `reset`, whose result holds their final values: those are added to the accounting and
   * stored.
   */
  aroundReset(ids: readonly number[], reset: () => Promise<Pick<Queues, 'records'>>): Promise<void> {
    return this.#inTurn(async () => {
      await this.#read();
      const run = await this.#run();
      const bytesOf = bytesIn(new QueueDump(await reset()));
      const now = new Date();
      if (run === undefined || now.getFullYear() < FIRST_YEAR) return;
      const [day, asked, slicer] = [localDay(now), new Set(ids), new TimeSlicer()];
      for (const menu of QUEUE_MENUS) {
        for (const row of this.#sources.store.snapshot.get(menu) ?? []) {
          if (asked.has(row.id)) this.#countLast(menu, row, { day, run, seen: bytesOf(menu, row.id) });
          if (slicer.over) await slicer.pause();
        }
      }
      // After a crash these values could not be read again.
      await this.#flush(ids.filter((id) => this.#moved.has(id))).catch(this.#sources.failed);
    });
  }

  /** Adds the final counter values of a queue, and notes that its counters start again at zero. */
  #countLast(menu: string, row: Row, last: Meter): void {
    this.#count(menu, row, last);
    const meter = this.#meters.get(row.id);
    if (meter !== undefined) this.#meters.set(row.id, { ...meter, seen: NOTHING });
    this.#moved.add(row.id);
  }

  /**
   * Bytes of the days `from` to `to`, oldest first, then by name; of one queue if `row` is given. Produced in parts, as a
   * month of 25,000 queues does not fit into memory.
   * @param user number of the requesting user
   */
  async *days(from: string, to: string, row?: number, user?: number): AsyncGenerator<readonly QueueDay[], void> {
    await this.read();
    if (row !== undefined) {
      const days = await this.#inTurn(() => this.#daysOf(row, from, to));
      if (days.length > 0) yield days;
      return;
    }
    const slicer = new TimeSlicer(undefined, user);
    // The SQLite driver blocks this thread: each query gets its own turn of the event loop.
    const days = this.#inTurn(() => new TimeSlicer().pause().then(() => this.#daysBetween(from, to)));
    for (const day of await days) {
      const queues = await this.#sharedDay(day);
      for (let at = 0; at < queues.length; at += BATCH) {
        yield queues.slice(at, at + BATCH);
        if (slicer.over) await slicer.pause();
      }
    }
  }

  /**
   * The queues of a day. Callers that come before a queued reading has begun share it, which bounds the memory of many
   * reports at once. Serialised with writes, so that bytes stored meanwhile are neither missed nor counted twice.
   */
  #sharedDay(day: string): Promise<readonly QueueDay[]> {
    const asked = this.#askedDays.get(day);
    if (asked !== undefined) return asked;
    const queues = this.#inTurn(() => {
      this.#askedDays.delete(day);
      return this.#queuesOf(day);
    });
    this.#askedDays.set(day, queues);
    return queues;
  }

  /** Serialises readings: two at once would add the same bytes twice. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work);
    this.#turn = turn.then(
      () => undefined,
      () => undefined,
    );
    return turn;
  }

  async #read(): Promise<void> {
    await this.#load();
    const now = new Date();
    // Bytes from before the clock is set stay in the counters, and are added to the first valid day.
    if (now.getFullYear() < FIRST_YEAR) return;
    const { snapshot } = this.#sources.store;
    const present = new Set(QUEUE_MENUS.flatMap((menu) => (snapshot.get(menu) ?? []).map(({ id }) => id)));
    for (const row of this.#meters.keys()) {
      if (present.has(row)) continue;
      this.#meters.delete(row);
      this.#moved.add(row);
    }
    // Without queues the data plane is not read.
    if (present.size === 0) return;
    const counters = await this.#counters();
    if (counters === undefined) return;
    const { run, bytesOf } = counters;
    const day = localDay(now);
    const slicer = new TimeSlicer();
    for (const menu of QUEUE_MENUS) {
      for (const row of snapshot.get(menu) ?? []) {
        this.#count(menu, row, { day, run, seen: bytesOf(menu, row.id) });
        if (slicer.over) await slicer.pause();
      }
    }
  }

  /** Adds the bytes of a queue up to the counters `now`. */
  #count(menu: string, { id, values: { name = '' } }: Row, now: Meter): void {
    const before = this.#meters.get(id);
    const seen = before?.run === now.run ? before.seen : NOTHING;
    const upload = since(now.seen.upload, seen.upload);
    const download = since(now.seen.download, seen.download);
    const silent = upload === 0n && download === 0n;
    // A day has a record from its first byte on, with the present name of the queue.
    const sameDay = before?.day === now.day;
    if (!silent || (sameDay && before.name !== name)) {
      const day = this.#unstored.get(now.day) ?? new Map<number, Carried>();
      this.#unstored.set(now.day, day);
      const { upload: up, download: down } = day.get(id) ?? NOTHING;
      day.set(id, { menu, name, upload: up + upload, download: down + download });
    } else if (before === undefined || (equal(now.seen, seen) && before.name === name)) return;
    this.#meters.set(id, { ...now, day: silent && before !== undefined ? before.day : now.day, name });
    this.#moved.add(id);
  }

  async #counters() {
    const { live } = this.#sources;
    const [dump, run] = [await live.queues(), await this.#run()];
    return dump === undefined || run === undefined ? undefined : { run, bytesOf: bytesIn(dump) };
  }

  /** Identifies the run of the data plane: its process id, and its start on the machine's monotonic clock, s. */
  async #run(): Promise<string | undefined> {
    const { live } = this.#sources;
    const stats = await live.stats();
    if (stats === undefined) return undefined;
    return `${live.agent.hello?.pid ?? 0}@${Math.round((stats['now-ns'] - stats['uptime-ns']) / 1e9)}`;
  }

  /** Loads the meters that the last run of this program stored. */
  async #load(): Promise<void> {
    if (this.#loaded) return;
    const names = new Map<number, string>();
    for (const menu of QUEUE_MENUS) {
      for (const { id, values } of this.#sources.store.snapshot.get(menu) ?? []) names.set(id, values.name ?? '');
    }
    const slicer = new TimeSlicer();
    for (let after = -1; ; ) {
      const meters = await this.#records.metersAfter(after);
      for (const [row, meter] of meters) this.#meters.set(row, { ...meter, name: names.get(row) ?? '' });
      const last = meters.at(-1);
      if (last === undefined) break;
      after = last[0];
      await slicer.pause();
    }
    this.#loaded = true;
  }

  /**
   * Stores the added bytes of the given rows, by default of all changed ones. After an error they are kept for the next
   * write.
   */
  async #flush(rows: readonly number[] = [...this.#moved]): Promise<void> {
    const slicer = new TimeSlicer();
    for (let at = 0; at < rows.length; at += BATCH) {
      // The SQLite driver blocks this thread: each batch gets its own turn of the event loop.
      await slicer.pause();
      await this.#store(rows.slice(at, at + BATCH));
    }
    for (const [day, queues] of this.#unstored) if (queues.size === 0) this.#unstored.delete(day);
  }

  async #store(rows: readonly number[]): Promise<void> {
    const carried = [...this.#unstored].flatMap(([day, queues]) =>
      rows.flatMap((row) => {
        const queue = queues.get(row);
        return queue === undefined ? [] : [{ row, day, ...queue }];
      }),
    );
    const meters = rows.flatMap((row) => {
      const meter = this.#meters.get(row);
      return meter === undefined ? [] : [[row, meter] as const];
    });
    const removed = rows.filter((row) => !this.#meters.has(row));
    await this.#records.add({ carried, meters, removed });
    for (const row of rows) this.#moved.delete(row);
    for (const queues of this.#unstored.values()) for (const row of rows) queues.delete(row);
  }

  async #daysOf(row: number, from: string, to: string): Promise<QueueDay[]> {
    const days = new Map((await this.#records.daysOf(row, from, to)).map((stored) => [stored.day, stored]));
    for (const [day, queues] of this.#unstored) {
      const queue = queues.get(row);
      if (queue !== undefined && day >= from && day <= to) days.set(day, together(row, day, days.get(day), queue));
    }
    return [...days.values()].sort((a, b) => compareTexts(a.day, b.day));
  }

  async #daysBetween(from: string, to: string): Promise<string[]> {
    const unstored = [...this.#unstored.keys()].filter((day) => day >= from && day <= to);
    return [...new Set([...(await this.#records.days(from, to)), ...unstored])].sort(compareTexts);
  }

  async #queuesOf(day: string): Promise<QueueDay[]> {
    const slicer = new TimeSlicer();
    const queues = new Map<number, QueueDay>();
    for (let after = -1; ; ) {
      const part = await this.#records.partOfDay(day, after);
      for (const queue of part) queues.set(queue.row, queue);
      const last = part.at(-1);
      if (last === undefined) break;
      after = last.row;
      if (slicer.over) await slicer.pause();
    }
    for (const [row, carried] of this.#unstored.get(day) ?? []) {
      queues.set(row, together(row, day, queues.get(row), carried));
    }
    const list = [...queues.values()];
    const byName = (a: QueueDay | undefined, b: QueueDay | undefined) =>
      a === undefined || b === undefined ? 0 : compareTexts(a.name, b.name) || a.row - b.row;
    const places = await sorted(upTo(list.length), (a, b) => byName(list[a], list[b]), slicer);
    return Array.from(places).flatMap((place) => list[place] ?? []);
  }

  /**
   * Removes days beyond the retention period, once a day, at most as many as were added: a clock that is years ahead for a
   * while adds one day and must not expire all others.
   */
  async #prune(): Promise<void> {
    const now = new Date();
    const today = localDay(now);
    if (this.#pruned === today || now.getFullYear() < FIRST_YEAR) return;
    const oldest = localDay(new Date(now.getTime() - this.#keepDays * DAY_MS));
    const days = await this.#records.days('', '9999-12-31');
    const old = days.slice(this.#keepDays + 1).filter((day) => day < oldest);
    const slicer = new TimeSlicer();
    let removed = 0;
    for (const day of old) {
      do {
        if (removed === MAX_REMOVED) return;
        removed += 1;
        await slicer.pause();
      } while (await this.#records.removeFrom(day));
    }
    this.#pruned = today;
  }
}

/** Byte counters of a queue in a dump. */
function bytesIn(dump: Pick<QueueDump, 'value'>) {
  return (menu: QueueMenu, row: number): Bytes => {
    const read = (part: (typeof PART)[keyof typeof PART]) => dump.value(row, part, 'bytes') ?? 0n;
    return hasOneDirection(menu)
      ? { upload: 0n, download: read(PART.whole) }
      : { upload: read(PART.upload), download: read(PART.download) };
  };
}

/** Stored plus unstored bytes of a queue's day. */
const together = (row: number, day: string, stored: Bytes | undefined, queue: Carried): QueueDay => ({
  row,
  day,
  menu: queue.menu,
  name: queue.name,
  upload: (stored?.upload ?? 0n) + queue.upload,
  download: (stored?.download ?? 0n) + queue.download,
});
