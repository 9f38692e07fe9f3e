import type { ServerMessage } from '@tollway/protocol/live/server-messages';
import type { Menu } from '@tollway/schema';
import { Cancelled, startSlicer } from '../scheduling/time-slicer.js';
import type { RowSet, View } from '../view/rows.js';
import type { CellReservation } from './cell-quota.js';
import { deltaOf, evaluate, maxCells, type QueryResult, scannedItems } from './evaluate.js';
import type { RowQuery } from './row-query.js';

/** Receiver of a feed's messages. */
export interface MessageSink {
  /** False while the client does not keep up: messages that are not essential are skipped. */
  readonly ready: boolean;
  send(message: ServerMessage): void;
}

/**
 * Minimum time between evaluations, in multiples of the time that one takes: a subscription never uses more than 8 % of
 * a core.
 */
const COST_FACTOR = 12;
/** Interval of checks whether a slow client has caught up, ms. */
const BUSY_MS = 100;
/** Interval of retries of a query that exceeded the quota, ms: other subscriptions may have been closed. */
const REFUSED_MS = 5_000;
/** Maximum cost that is assumed for a reading, ms: waiting for a slow data plane is not counted. */
const MAX_READING_MS = 500;

/** The subscription of one browser to rows of a menu. Sends a snapshot first, then changes. */
export class MenuFeed {
  readonly #id: number;
  readonly #menu: Menu;
  readonly #view: View;
  readonly #intervalMs: number;
  readonly #sink: MessageSink;
  readonly #reservation: CellReservation;
  readonly #timer: NodeJS.Timeout | undefined;
  #query: RowQuery;
  #sent: QueryResult | undefined;
  /** Reason for a refusal, as sent to the client; undefined while rows are shown. */
  #refused: string | undefined;
  #retry: NodeJS.Timeout | undefined;
  /** Earliest time of the next tick: a table that takes long to evaluate is evaluated less often. */
  #nextTickAt = 0;
  /** Aborts the running evaluation. */
  #stop = new AbortController();
  #running = false;
  /** Maximum age of the readings for the next evaluation, ms, if one was requested during the current one. */
  #again: number | undefined;
  #closed = false;

  constructor(
    id: number,
    menu: Menu,
    view: View,
    query: RowQuery,
    intervalMs: number,
    sink: MessageSink,
    reservation: CellReservation,
  ) {
    this.#id = id;
    this.#menu = menu;
    this.#view = view;
    this.#query = query;
    this.#intervalMs = intervalMs;
    this.#sink = sink;
    this.#reservation = reservation;
    // Without live values, rows change only by commits, which call refresh().
    this.#timer = menu.refreshMs === undefined ? undefined : setInterval(() => this.tick(), intervalMs);
    this.refresh(intervalMs / 2);
  }

  setQuery(change: Partial<RowQuery>): void {
    this.#query = { ...this.#query, ...change };
    this.#sent = undefined;
    this.#refused = undefined;
    this.#stop.abort();
    this.refresh(this.#intervalMs / 2);
  }

  /** Evaluates if the minimum time between evaluations has passed: live values may have changed. */
  tick(): void {
    if (this.#sink.ready && performance.now() >= this.#nextTickAt) this.refresh(this.#intervalMs / 2);
  }

  /**
   * Evaluates now, because the configuration or the query has changed. Readings are at most `maxAgeMs` old; viewers
   * share them.
   */
  refresh(maxAgeMs = 0): void {
    if (this.#running) {
      this.#again = Math.min(maxAgeMs, this.#again ?? maxAgeMs);
      return;
    }
    this.#running = true;
    this.#update(maxAgeMs)
      .catch((error: unknown) => {
        if (!(error instanceof Cancelled)) throw error;
      })
      .catch((error: unknown) => {
        // The id may already belong to another subscription.
        if (this.#closed) return;
        this.#sent = undefined;
        this.#sink.send({ op: 'error', id: this.#id, detail: String(error) });
      })
      .finally(() => {
        this.#running = false;
        const again = this.#again;
        this.#again = undefined;
        if (again !== undefined && !this.#closed) this.refresh(again);
      });
  }

  close(): void {
    this.#closed = true;
    this.#reservation.close();
    this.#stop.abort();
    clearInterval(this.#timer);
    clearTimeout(this.#retry);
  }

  async #update(maxAgeMs: number): Promise<void> {
    await this.#whenReady();
    // A closed feed has released its reservation, and nothing would cancel a new evaluation.
    if (this.#closed) return;
    const query = this.#query;
    const stop = new AbortController();
    this.#stop = stop;
    const evaluated = await this.#evaluated(query, maxAgeMs, stop.signal).finally(() => stop.abort());
    if (evaluated === undefined) return;
    // Other subscriptions of the client may have sent much meanwhile.
    await this.#whenReady();
    const before = performance.now();
    if (!this.#closed && query === this.#query) this.#send(query, evaluated.content);
    const sendingMs = performance.now() - before;
    this.#nextTickAt = performance.now() + COST_FACTOR * (evaluated.costMs + sendingMs);
  }

  /** Rows of a query, and their cost; undefined when the quota does not permit them. */
  async #evaluated(
    query: RowQuery,
    maxAgeMs: number,
    stop: AbortSignal,
  ): Promise<{ readonly content: QueryResult; readonly costMs: number } | undefined> {
    const asked = performance.now();
    let rows: RowSet | undefined = await this.#view(maxAgeMs);
    const readingMs = Math.min(MAX_READING_MS, performance.now() - asked);
    const scanned = scannedItems(rows, query);
    if (this.#reservation.mayScan(scanned)) await this.#reservation.acquireScan(scanned, stop);
    else {
      // No reading is kept while it waits; the rows are read again afterwards.
      rows = undefined;
      await this.#reservation.acquireScan(scanned, stop);
      rows = await this.#view(maxAgeMs);
    }
    const slicer = await startSlicer(stop, this.#reservation.user);
    // Reserved before the rows are decoded: a refused query must not use memory for them.
    if (!this.#reserve(maxCells(this.#menu, rows.length, query))) return undefined;
    const content = await evaluate(this.#menu, rows, query, slicer);
    return { content, costMs: readingMs + slicer.workedMs };
  }

  /** Waits until the client has read its messages, which are in memory until then. */
  async #whenReady(): Promise<void> {
    while (!this.#sink.ready && !this.#closed) await new Promise((resolve) => setTimeout(resolve, BUSY_MS));
  }

  /** Reserves cells, or sends the client the reason why that is refused. */
  #reserve(cells: number): boolean {
    const refused = this.#reservation.resize(cells);
    if (refused !== undefined) {
      this.#sent = undefined;
      if (refused !== this.#refused) this.#sink.send({ op: 'error', id: this.#id, detail: refused });
      clearTimeout(this.#retry);
      this.#retry = setTimeout(() => this.refresh(this.#intervalMs / 2), REFUSED_MS);
    }
    this.#refused = refused;
    return refused === undefined;
  }

  #send(query: RowQuery, content: QueryResult): void {
    const { total, matched, context = 0, incomplete } = content;
    const counts = { total, matched, ...(query.tree !== undefined && { context }), ...(incomplete && { incomplete }) };
    if (this.#sent === undefined) {
      this.#sink.send({ id: this.#id, op: 'snapshot', ...counts, first: query.first, rows: content.rows });
    } else {
      const delta = deltaOf(this.#sent, content);
      if (delta === undefined) return;
      this.#sink.send({ id: this.#id, op: 'delta', ...counts, ...delta });
    }
    this.#sent = content;
  }
}
