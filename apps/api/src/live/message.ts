import { type Menu, menuByPath } from '@tollway/schema';

/** Messages of the browser, read from what may be anything. */

export interface MenuWindow {
  readonly filter: readonly (readonly [string, string])[];
  readonly find: string;
  readonly sort: { readonly by: string; readonly desc: boolean } | undefined;
  readonly first: number;
  readonly count: number;
}

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
  | { readonly op: 'window'; readonly id: number; readonly window: Partial<MenuWindow> }
  | { readonly op: 'unsubscribe'; readonly id: number };

/** A message that cannot be understood; the text says what would be. */
export class MessageError extends Error {
  constructor(
    text: string,
    readonly id?: number,
  ) {
    super(text);
  }
}

/** Most rows of a window. */
export const MAX_COUNT = 1000;
const MIN_INTERVAL_MS = 200;
const MAX_INTERVAL_MS = 60_000;
const DEFAULT_WINDOW: MenuWindow = { filter: [], find: '', sort: undefined, first: 0, count: 100 };

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
  if (topic !== 'menu') throw new MessageError('topic must be menu, traffic, profile or status', id);
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

/** The parts of a window that are named; `null` takes a sort, filter or find away. */
function windowOf(fields: Fields, id: number): Partial<MenuWindow> {
  return {
    ...(fields.filter !== undefined && { filter: filterOf(fields.filter, id) }),
    ...(fields.find !== undefined && { find: findOf(fields.find, id) }),
    ...(fields.sort !== undefined && { sort: sortOf(fields.sort, id) }),
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

function filterOf(value: unknown, id: number): (readonly [string, string])[] {
  if (value === null) return [];
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new MessageError('filter must be an object of texts, e.g. {"name":"ether1"}', id);
  }
  return Object.entries(value).map(([name, text]) => {
    if (typeof text !== 'string') throw new MessageError(`filter: ${name} must be a text`, id);
    return [name, text];
  });
}

function findOf(value: unknown, id: number): string {
  if (value === null) return '';
  if (typeof value !== 'string') throw new MessageError('find must be a text', id);
  return value;
}

function sortOf(value: unknown, id: number): MenuWindow['sort'] {
  if (value === null) return undefined;
  const { by, desc }: { by?: unknown; desc?: unknown } = typeof value === 'object' ? value : {};
  if (typeof by !== 'string' || (desc !== undefined && typeof desc !== 'boolean')) {
    throw new MessageError('sort must be {"by":"property","desc":false}', id);
  }
  return { by, desc: desc ?? false };
}
