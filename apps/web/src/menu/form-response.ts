/** The state of a form after the response to its request. Pure. */
import type { Menu } from '@tollway/schema';
import type { Row } from '../api/row.ts';
import { type Edits, edit } from './form-model.ts';

/** Values that the user entered while a request was pending, by property; undefined for one that was unset. */
type Typed = ReadonlyMap<string, string | undefined>;

/** The edits that remain after a response: those made since the request, relative to the present item. */
export function typedSince(menu: Menu, row: Row, typed: Typed): Edits {
  let edits: Edits = {};
  for (const [name, value] of typed) edits = edit(menu, edits, row, name, value);
  return edits;
}

/** An item after an accepted change whose response has no body: the sent properties applied to the row. */
export function withSentValues(row: Row, body: Readonly<Record<string, string>>): Row {
  const removed = new Set(Object.keys(body).flatMap((name) => (name.startsWith('!') ? [name.slice(1)] : [])));
  return Object.fromEntries(
    Object.entries({ ...row, ...body }).filter(([name]) => !name.startsWith('!') && !removed.has(name)),
  );
}

/** The changed properties of a response. Updates of the live feed may arrive before or after the response. */
export interface Acknowledged {
  /** Values before the change. */
  readonly before: Readonly<Record<string, string | undefined>>;
  /** Values after the change. */
  readonly after: Readonly<Record<string, string | undefined>>;
}

/** The sent properties that have changed; undefined for none. Secrets are omitted, as responses do not contain them. */
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

/** Whether a row of the live feed is older than the acknowledged change. */
export function isOutdated(row: Row, { before }: Acknowledged): boolean {
  return Object.entries(before).every(([name, value]) => row[name] === value);
}

/** A row of the live feed, with the acknowledged values while it is older than those. */
export function withAcknowledged(row: Row, acknowledged: Acknowledged | undefined): Row {
  if (acknowledged === undefined || !isOutdated(row, acknowledged)) return row;
  const now: Record<string, string> = { ...row };
  for (const [name, value] of Object.entries(acknowledged.after)) {
    if (value === undefined) delete now[name];
    else now[name] = value;
  }
  return now;
}
