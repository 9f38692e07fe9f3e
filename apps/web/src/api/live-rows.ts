/** The loaded rows of a menu. Pure: takes messages of the live feed, and returns the next state and its changes. */

import type { Delta, Snapshot } from '@tollway/protocol/live/menu';
import type { ServerMessage, Unnumbered } from '@tollway/protocol/live/server-messages';
import { type Row, rowId } from './row.ts';

/** The loaded rows of a menu: a range of the matching rows. */
export interface LiveRows {
  /** False until the first snapshot. */
  readonly loaded: boolean;
  /** Items in the menu. */
  readonly total: number;
  /** Items that pass filter and find. */
  readonly matched: number;
  /** Number of matched rows that are in a tree only as ancestors. */
  readonly context: number;
  /** True when items of the packet engine are missing, as it does not answer. */
  readonly incomplete: boolean;
  /** Position of the first loaded row among the matching rows. */
  readonly first: number;
  /** Ids of the loaded rows in order. */
  readonly order: readonly string[];
  readonly rows: ReadonlyMap<string, Row>;
}

/** Changes by one message. */
export interface Change {
  /** Rows whose values changed or that are new. */
  readonly rows: ReadonlySet<string>;
  /** Order, number or position of the rows changed. */
  readonly order: boolean;
}

export const noRows: LiveRows = {
  loaded: false,
  total: 0,
  matched: 0,
  context: 0,
  incomplete: false,
  first: 0,
  order: [],
  rows: new Map(),
};

function snapshot(message: Unnumbered<Snapshot>): { state: LiveRows; change: Change } {
  const rows = new Map(message.rows.map((row) => [rowId(row), row]));
  const { total, matched, context = 0, incomplete = false, first } = message;
  const order = [...rows.keys()];
  return {
    state: { loaded: true, total, matched, context, incomplete, first, order, rows },
    change: { rows: new Set(order), order: true },
  };
}

function delta(state: LiveRows, message: Unnumbered<Delta>): { state: LiveRows; change: Change } {
  const rows = new Map(state.rows);
  const changed = new Set<string>();
  const fresh: string[] = [];

  for (const id of message.remove) rows.delete(id);
  for (const values of message.set) {
    const id = rowId(values);
    const before = rows.get(id);
    if (before === undefined) fresh.push(id);
    rows.set(id, before === undefined ? values : { ...before, ...values });
    changed.add(id);
  }
  for (const [id, names] of Object.entries(message.unset ?? {})) {
    const before = rows.get(id);
    if (before === undefined) continue;
    const gone = new Set(names);
    rows.set(id, Object.fromEntries(Object.entries(before).filter(([name]) => !gone.has(name))));
    changed.add(id);
  }

  let { order } = state;
  if (message.order !== undefined) {
    order = message.order.filter((id) => rows.has(id));
    const inside = new Set(order);
    for (const id of rows.keys()) if (!inside.has(id)) rows.delete(id);
  } else if (order.some((id) => !rows.has(id)) || fresh.length > 0) {
    order = [...order.filter((id) => rows.has(id)), ...fresh];
  }

  const { total, matched, context = state.context, incomplete = false } = message;
  const next: LiveRows = { loaded: true, total, matched, context, incomplete, first: state.first, order, rows };
  const counted = (['total', 'matched', 'context', 'incomplete'] as const).every((name) => next[name] === state[name]);
  const moved = order !== state.order || !counted;
  return { state: next, change: { rows: changed, order: moved } };
}

const nothing: Change = { rows: new Set(), order: false };

/** Applies one message of a `menu` subscription. Messages of other kinds change nothing. */
export function applyMessage(state: LiveRows, message: Unnumbered<ServerMessage>): { state: LiveRows; change: Change } {
  if (message.op === 'snapshot') return snapshot(message);
  // A delta before the first snapshot belongs to an earlier query.
  if (message.op === 'delta' && state.loaded) return delta(state, message);
  return { state, change: nothing };
}

/**
 * The order while the pointer is over the table: rows keep their positions, removed rows remain as stale rows, and new
 * rows are appended.
 */
export function heldOrder(shown: readonly string[], next: readonly string[]): readonly string[] {
  const present = new Set(shown);
  return [...shown, ...next.filter((id) => !present.has(id))];
}
