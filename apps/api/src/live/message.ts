import { checkOf, type Refusal } from '@tollway/protocol/check';
import type { Data, ObjectSchema } from '@tollway/protocol/data';
import {
  numbered,
  operation,
  rowQueryRequest,
  type Subscribe,
  subscriptions,
  topic,
  type Unsubscribe,
} from '@tollway/protocol/live/client-messages';
import { MAX_ROWS } from '@tollway/protocol/live/limits';
import {
  type Asked,
  type Condition,
  FIND_ACCEPTS,
  type Filter,
  MAX_FIND,
  type RowQueryPart,
  type Sort,
  type Tree,
  test,
} from '@tollway/protocol/live/row-query';
import { type Menu, menuByPath } from '@tollway/schema';
import { MAX_MEMBERS, membersOf } from '../query/membership.js';
import type { RowQuery, TreeShape } from './row-query.js';

/** Messages of the browser: checks beyond the schemas of the protocol, and the internal form of the messages. */

type MenuTopic = Subscribe & { topic: 'menu' };

export type ClientMessage =
  | (Pick<MenuTopic, 'id' | 'op' | 'topic'> & {
      readonly menu: Menu;
      readonly intervalMs: number;
      readonly query: RowQuery;
    })
  | Exclude<Subscribe, MenuTopic>
  | { readonly op: 'window'; readonly id: number; readonly query: Partial<RowQuery> }
  | Unsubscribe;

/** A refused message; the text says what is accepted. */
export class MessageError extends Error {
  constructor(
    text: string,
    readonly id?: number,
    /** The condition at fault, if it is part of a filter. */
    readonly condition?: Condition,
  ) {
    super(text);
  }
}

/** Maximum number of conditions of a filter. */
const MAX_CONDITIONS = 32;
/** Maximum number of columns whose sum rows are sorted by. */
const MAX_SUMMANDS = 8;
/** Maximum length of the value of a condition, characters. */
const MAX_VALUE = 4_096;
/** Maximum length of all values of a filter together, characters. */
const MAX_VALUES = 16_384;
const DEFAULT_INTERVAL_MS = 1_000;
const MIN_INTERVAL_MS = 200;
const MAX_INTERVAL_MS = 60_000;
const DEFAULT_QUERY: RowQuery = {
  filter: [],
  columns: undefined,
  find: '',
  sort: undefined,
  first: 0,
  count: 100,
};

/** A parser for messages, which throws {@link MessageError} when a message does not match the schema. */
function reader<S extends ObjectSchema>(schema: S): (message: unknown, id?: number) => Data<S> {
  const check = checkOf(schema);
  return (message, id) => {
    const checked = check(message);
    if (checked.ok) return checked.value;
    throw new MessageError(refusalText(checked.refusal, message), id);
  };
}

const read = {
  number: reader(numbered),
  operation: reader(operation),
  topic: reader(topic),
  window: reader(rowQueryRequest),
  menu: reader(subscriptions.menu),
  trace: reader(subscriptions.trace),
  'token-bucket': reader(subscriptions['token-bucket']),
};
const checkTest = checkOf(test);

/** @throws MessageError */
export function readMessage(text: string): ClientMessage {
  const message = parsed(text);
  const { id } = read.number(message);
  const { op } = read.operation(message, id);
  switch (op) {
    case 'subscribe':
      return subscription(message, id);
    case 'window':
      return { op, id, query: queryPartOf(read.window(message, id), id) };
    case 'unsubscribe':
      return { op, id };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new MessageError('the message is not valid JSON');
  }
}

function refusalText({ reason, property, text }: Refusal, message: unknown): string {
  if (reason === 'no-object') return 'the message must be one JSON object';
  if (property !== 'filter' || typeof message !== 'object' || message === null) return text;
  return wrongCondition(Reflect.get(message, property)) ?? text;
}

/** Error of the first invalid condition; undefined when all are valid. */
function wrongCondition(filter: unknown): string | undefined {
  if (typeof filter !== 'object' || filter === null || Array.isArray(filter)) return undefined;
  for (const [column, asked] of Object.entries(filter)) {
    for (const one of Array.isArray(asked) ? asked : [asked]) {
      const checked = checkTest(typeof one === 'object' && one !== null ? one : { op: 'is', value: one });
      if (checked.ok) continue;
      const { property, text } = checked.refusal;
      return `filter: the ${property === 'value' ? 'value' : 'op'} of ${column} must be ${text}`;
    }
  }
  return undefined;
}

function subscription(message: unknown, id: number): ClientMessage {
  const { topic } = read.topic(message, id);
  switch (topic) {
    case 'menu':
      return menuSubscription(read.menu(message, id));
    case 'trace':
    case 'token-bucket':
      return read[topic](message, id);
    default:
      return { op: 'subscribe', id, topic };
  }
}

function menuSubscription(message: MenuTopic): ClientMessage {
  const { id, op, topic, intervalMs = DEFAULT_INTERVAL_MS } = message;
  const menu = menuByPath(message.menu);
  if (menu === undefined || menu.kind === 'command') {
    throw new MessageError('menu must be the path of a menu, e.g. /interface', id);
  }
  return {
    op,
    id,
    topic,
    menu,
    intervalMs: Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, intervalMs)),
    query: { ...DEFAULT_QUERY, ...queryPartOf(message, id) },
  };
}

/** The parts of a query that a message contains; `null` resets sort, filter, find, tree or columns. */
function queryPartOf({ filter, columns, find, sort, tree, first, count }: RowQueryPart, id: number): Partial<RowQuery> {
  return {
    ...(filter !== undefined && { filter: conditionsOf(filter ?? {}, id) }),
    ...(columns !== undefined && { columns: columns ?? undefined }),
    ...(find !== undefined && { find: findOf(find ?? '', id) }),
    ...(sort !== undefined && { sort: sort === null ? undefined : sortOf(sort, id) }),
    ...(tree !== undefined && { tree: tree === null ? undefined : shapeOf(tree) }),
    ...(first !== undefined && { first }),
    ...(count !== undefined && { count: Math.min(MAX_ROWS, count) }),
  };
}

function conditionsOf(filter: Filter, id: number): Condition[] {
  const conditions = Object.entries(filter).flatMap(([column, asked]) =>
    [asked].flat().map((one) => conditionOf(column, one, id)),
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

function conditionOf(column: string, asked: Asked, id: number): Condition {
  const { op, value } = typeof asked === 'object' ? asked : { op: 'is' as const, value: asked };
  const text = String(value);
  if (text.length > MAX_VALUE) {
    throw new MessageError(`filter: the value of ${column} is longer than ${MAX_VALUE} characters`, id);
  }
  return { column, op, value: text };
}

function findOf(text: string, id: number): string {
  if (text.length > MAX_FIND) throw new MessageError(FIND_ACCEPTS, id);
  return text;
}

function sortOf({ by, desc = false }: Sort, id: number): RowQuery['sort'] {
  const columns = by.split('+').length;
  if (columns > MAX_SUMMANDS) throw new MessageError(`sort: ${columns} columns, ${MAX_SUMMANDS} are accepted`, id);
  return { by, desc };
}

const shapeOf = ({ folded, except = [] }: Tree): TreeShape => ({ folded, except: new Set(except) });
