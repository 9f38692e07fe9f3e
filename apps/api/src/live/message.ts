import { type Menu, menuByPath } from '@tollway/schema';
import { MAX_MEMBERS, membersOf } from '../config/membership.js';
import { MAX_FIND } from '../config/query.js';
import { type Condition, OPERATORS, type Operator } from './condition.js';
import type { MenuWindow, TreeShape } from './menu-window.js';
import type { Watched } from './watched-queue.js';

/**
 * Messages of the browser, read from what may be anything.
 *
 * A window's `filter` is an object: the name of a column (a property, half of a pair such as `max-limit.upload`,
 * a flag such as `disabled` or `dynamic`, or `.id`) and what is asked of it. All of it must hold:
 *
 *     {"chain": "forward"}                                                    equal
 *     {"disabled": true}                                                      flags and numbers as they are
 *     {"src-address": {"op": "in", "value": "10.0.0.0/8,192.168.88.1-192.168.88.9"}}
 *     {"rate.upload": [{"op": "more", "value": "1M"}, {"op": "less", "value": "20M"}]}
 *
 * Operators: `is`, `is-not`, `contains`, `contains-not` (text as sent or as shown, in any case), `in`, `in-not` (a
 * comma list: networks, single addresses and ranges for addresses; values and ranges `a-b` for numbers; words for
 * the rest), `less`, `more` (typed). An item without a value meets only what is asked with `not`; a flag that is not
 * there counts as no. A column or value that cannot be is answered with `error`, and the window stays as it was.
 *
 * A window's `sort` names a column; several with `+` between them are sorted by their sum:
 * `{"by": "rate.upload+rate.download", "desc": true}`.
 *
 * A window's `tree` shows a menu whose items have parents depth first: `{"folded": false, "except": ["*1"]}` leaves
 * out what is below `*1`, `{"folded": true, "except": ["*1"]}` what is below all others. Rows then have `.above` (ids
 * of the items that they are below, from the root, as a comma list), `.children` and `.open`; sorting is among
 * siblings, and what passes a filter or find is shown with all that it is below, whatever is folded: then there is no
 * `.open`.
 */

export type ClientMessage =
  | {
      readonly op: 'subscribe';
      readonly id: number;
      readonly topic: 'menu';
      readonly menu: Menu;
      readonly intervalMs: number;
      readonly window: MenuWindow;
    }
  | { readonly op: 'subscribe'; readonly id: number; readonly topic: 'traffic' | 'profile' | 'status' }
  | {
      readonly op: 'subscribe';
      readonly id: number;
      readonly topic: 'trace';
      /** What would become of the packet, instead of what becomes of packets that come. */
      readonly dry: boolean;
      /** Arguments of `/tool/packet-trace`. */
      readonly words: Readonly<Record<string, unknown>>;
    }
  | ({ readonly op: 'subscribe'; readonly id: number; readonly topic: 'queue-scope' } & Watched)
  | { readonly op: 'window'; readonly id: number; readonly window: Partial<MenuWindow> }
  | { readonly op: 'unsubscribe'; readonly id: number };

/** A message that cannot be understood; the text says what would be. */
export class MessageError extends Error {
  constructor(
    text: string,
    readonly id?: number,
    /** The condition of a filter at fault. */
    readonly condition?: Condition,
  ) {
    super(text);
  }
}

/** Most rows of a window. */
export const MAX_COUNT = 1000;
/** Conditions of a filter. */
const MAX_CONDITIONS = 32;
/** Columns whose sum a window is sorted by. */
const MAX_SUMMANDS = 8;
/** Longest value of a condition, characters. */
const MAX_VALUE = 4_096;
/** Characters of all values of a filter. */
const MAX_VALUES = 16_384;
const MIN_INTERVAL_MS = 200;
const MAX_INTERVAL_MS = 60_000;
const DEFAULT_WINDOW: MenuWindow = {
  filter: [],
  columns: undefined,
  find: '',
  sort: undefined,
  first: 0,
  count: 100,
};

type Fields = Readonly<Record<string, unknown>>;

/** @throws MessageError */
export function readMessage(text: string): ClientMessage {
  const fields = jsonObject(text);
  const { id } = fields;
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0) {
    throw new MessageError('id must be a whole number of your choice');
  }
  switch (fields.op) {
    case 'subscribe':
      return subscription(fields, id);
    case 'window':
      return { op: 'window', id, window: windowOf(fields, id) };
    case 'unsubscribe':
      return { op: 'unsubscribe', id };
    default:
      throw new MessageError('op must be subscribe, window or unsubscribe', id);
  }
}

function jsonObject(text: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new MessageError('the message is not valid JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new MessageError('the message must be one JSON object');
  }
  return Object.fromEntries(Object.entries(value));
}

function subscription(fields: Fields, id: number): ClientMessage {
  const { topic } = fields;
  if (topic === 'traffic' || topic === 'profile' || topic === 'status') return { op: 'subscribe', id, topic };
  if (topic === 'trace')
    return { op: 'subscribe', id, topic, dry: fields.dry === true, words: wordsOf(fields.words, id) };
  if (topic === 'queue-scope') return { op: 'subscribe', id, topic, ...watchedQueue(fields, id) };
  if (topic !== 'menu')
    throw new MessageError('topic must be menu, traffic, profile, status, trace or queue-scope', id);
  const menu = typeof fields.menu === 'string' ? menuByPath(fields.menu) : undefined;
  if (menu === undefined || menu.kind === 'command')
    throw new MessageError('menu must be the path of a menu, e.g. /interface', id);
  const intervalMs = fields.intervalMs === undefined ? 1000 : numberOf(fields, 'intervalMs', id);
  return {
    op: 'subscribe',
    id,
    topic,
    menu,
    intervalMs: Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, intervalMs)),
    window: { ...DEFAULT_WINDOW, ...windowOf(fields, id) },
  };
}

function watchedQueue({ menu, queue }: Fields, id: number): Watched {
  if (menu !== '/queue/simple' && menu !== '/queue/tree') {
    throw new MessageError('menu must be /queue/simple or /queue/tree', id);
  }
  if (typeof queue !== 'string' || queue === '') throw new MessageError('queue must be the .id or name of a queue', id);
  return { menu, queue };
}

function wordsOf(value: unknown, id: number): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return Object.fromEntries(Object.entries(value));
  throw new MessageError('words must be an object of the arguments of /tool/packet-trace', id);
}

/** The parts of a window that are named; `null` takes a sort, filter, find, tree or choice of columns away. */
function windowOf(fields: Fields, id: number): Partial<MenuWindow> {
  return {
    ...(fields.filter !== undefined && { filter: filterOf(fields.filter, id) }),
    ...(fields.columns !== undefined && { columns: columnsOf(fields.columns, id) }),
    ...(fields.find !== undefined && { find: findOf(fields.find, id) }),
    ...(fields.sort !== undefined && { sort: sortOf(fields.sort, id) }),
    ...(fields.tree !== undefined && { tree: treeOf(fields.tree, id) }),
    ...(fields.first !== undefined && { first: numberOf(fields, 'first', id) }),
    ...(fields.count !== undefined && { count: Math.min(MAX_COUNT, numberOf(fields, 'count', id)) }),
  };
}

function numberOf(fields: Fields, name: string, id: number): number {
  const value = fields[name];
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    throw new MessageError(`${name} must be a whole number from 0`, id);
  }
  return value;
}

function filterOf(value: unknown, id: number): Condition[] {
  if (value === null) return [];
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new MessageError('filter must be an object of columns, e.g. {"name":"ether1"}', id);
  }
  const conditions = Object.entries(value).flatMap(([column, asked]: [string, unknown]) =>
    (Array.isArray(asked) ? asked : [asked]).map((one: unknown) => conditionOf(column, one, id)),
  );
  if (conditions.length > MAX_CONDITIONS) {
    throw new MessageError(`filter: ${conditions.length} conditions, ${MAX_CONDITIONS} are accepted`, id);
  }
  const characters = conditions.reduce((sum, { value }) => sum + value.length, 0);
  if (characters > MAX_VALUES) {
    throw new MessageError(`filter: values of ${characters} characters, ${MAX_VALUES} are accepted in all`, id);
  }
  const members = membersOf(conditions.flatMap(({ op, value }) => (op === 'in' || op === 'in-not' ? [value] : [])));
  if (members > MAX_MEMBERS) {
    throw new MessageError(`filter: ${members} values after in, ${MAX_MEMBERS} are accepted in all`, id);
  }
  return conditions;
}

function conditionOf(column: string, asked: unknown, id: number): Condition {
  const { op, value }: { op?: unknown; value?: unknown } =
    typeof asked === 'object' && asked !== null ? asked : { op: 'is', value: asked };
  const operator = OPERATORS.find((known): known is Operator => known === op);
  if (operator === undefined) {
    throw new MessageError(`filter: the op of ${column} must be one of ${OPERATORS.join(', ')}`, id);
  }
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    throw new MessageError(`filter: the value of ${column} must be a text, a number, true or false`, id);
  }
  const text = String(value);
  if (text.length > MAX_VALUE) {
    throw new MessageError(`filter: the value of ${column} is longer than ${MAX_VALUE} characters`, id);
  }
  return { column, op: operator, value: text };
}

function columnsOf(value: unknown, id: number): readonly string[] | undefined {
  if (value === null) return undefined;
  if (!Array.isArray(value) || !value.every((name): name is string => typeof name === 'string')) {
    throw new MessageError('columns must be a list of names', id);
  }
  return value;
}

function findOf(value: unknown, id: number): string {
  if (value === null) return '';
  if (typeof value !== 'string' || value.length > MAX_FIND) {
    throw new MessageError(`find must be a text of at most ${MAX_FIND} characters`, id);
  }
  return value;
}

function sortOf(value: unknown, id: number): MenuWindow['sort'] {
  if (value === null) return undefined;
  const { by, desc }: { by?: unknown; desc?: unknown } = typeof value === 'object' ? value : {};
  if (typeof by !== 'string' || (desc !== undefined && typeof desc !== 'boolean')) {
    throw new MessageError('sort must be {"by":"property","desc":false}', id);
  }
  const columns = by.split('+').length;
  if (columns > MAX_SUMMANDS) throw new MessageError(`sort: ${columns} columns, ${MAX_SUMMANDS} are accepted`, id);
  return { by, desc: desc ?? false };
}

function treeOf(value: unknown, id: number): TreeShape | undefined {
  if (value === null) return undefined;
  const { folded, except }: { folded?: unknown; except?: unknown } = typeof value === 'object' ? value : {};
  const names = except ?? [];
  if (
    typeof folded !== 'boolean' ||
    !Array.isArray(names) ||
    !names.every((name): name is string => typeof name === 'string')
  ) {
    throw new MessageError('tree must be {"folded":false,"except":["*1"]}', id);
  }
  return { folded, except: new Set(names) };
}
