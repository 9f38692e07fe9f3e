/** What becomes of a form when the answer to what it sent comes. Pure. */
import type { Menu } from '@tollway/schema';
import type { Row } from '../api/row.ts';
import { type Edits, edit } from './form-model.ts';

/** Values that were typed while an answer was awaited, by property; undefined for one that was unset. */
export type Typed = ReadonlyMap<string, string | undefined>;

/** The edits that remain: what was typed since the request went out, against the item as it is now. */
export function typedSince(menu: Menu, row: Row, typed: Typed): Edits {
  let edits: Edits = {};
  for (const [name, value] of typed) edits = edit(menu, edits, row, name, value);
  return edits;
}

/** An item after a change that was taken, where no answer tells how it is now. */
export function withBody(row: Row, body: Readonly<Record<string, string>>): Row {
  const removed = new Set(Object.keys(body).flatMap((name) => (name.startsWith('!') ? [name.slice(1)] : [])));
  return Object.fromEntries(
    Object.entries({ ...row, ...body }).filter(([name]) => !name.startsWith('!') && !removed.has(name)),
  );
}

/** What an answer acknowledged of an item. News of the item come another way, before the answer or after it. */
export interface Acknowledged {
  /** The properties that the change gave other values, as they were. */
  readonly before: Readonly<Record<string, string | undefined>>;
  /** The same as they are now. */
  readonly after: Readonly<Record<string, string | undefined>>;
}

/** What an answer acknowledges of the properties that were sent; undefined when they are as before. Secrets are in no answer. */
export function acknowledgedBy(
  menu: Menu,
  before: Row,
  after: Row,
  body: Readonly<Record<string, string>>,
): Acknowledged | undefined {
  const names = Object.keys(body)
    .map((name) => name.replace(/^!/, ''))
    .filter((name) => before[name] !== after[name] && menu.props[name]?.secret !== true);
  if (names.length === 0) return undefined;
  const of = (row: Row) => Object.fromEntries(names.map((name) => [name, row[name]]));
  return { before: of(before), after: of(after) };
}

/** True while the news do not know of the change yet. */
export function isBehind(row: Row, { before }: Acknowledged): boolean {
  return Object.entries(before).every(([name, value]) => row[name] === value);
}

/** The item by its news, or by the answer where that knows more. */
export function withAcknowledged(row: Row, acknowledged: Acknowledged | undefined): Row {
  if (acknowledged === undefined || !isBehind(row, acknowledged)) return row;
  const now: Record<string, string> = { ...row };
  for (const [name, value] of Object.entries(acknowledged.after)) {
    if (value === undefined) delete now[name];
    else now[name] = value;
  }
  return now;
}
