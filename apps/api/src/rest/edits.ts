import { type Menu, propOf } from '@tollway/schema';
import { AgentGone } from '../agent/messages.js';
import { type Arguments, withoutItem } from '../config/content.js';
import { type ItemChange, type RowPosition, rowPosition } from '../config/editor.js';
import { isDynamicId, namedItems, nameProp, noSuchItem } from '../config/items.js';
import { type ApiError, errors } from '../errors.js';
import { TimeSlicer } from '../scheduling/time-slicer.js';
import type { Call, CommandCall, DynamicRows, MenuCommands, Services } from '../services.js';
import { builtinNames } from '../snapshot/builtin.js';
import { rowIdText } from '../snapshot/snapshot.js';
import { storedRowsOf } from '../snapshot/storage.js';
import { authorOf } from './author.js';
import { indexOfItem } from './listing.js';

/**
 * Add, set and remove for every menu that has them: configuration rows are changed by the editor, users and rows of the
 * data plane by the module of their menu.
 */

/** Commands of the menu's module. */
const commandsOf = ({ services, menu }: Call): MenuCommands => services.commands.get(menu.path) ?? {};

/** Returns the `.id` of the new item. */
export async function add(call: Call): Promise<string> {
  const { services, menu, args, principal } = call;
  const { externalRows, dynamic } = commandsOf(call);
  if (externalRows !== undefined) return externalRows.add(call);
  if (dynamic?.addsDynamic?.(args)) return (await dynamic.add?.(services, menu, [args]))?.[0] ?? '';
  await refuseBesideDynamic(services, menu, rowPosition(args, 'place-before'));
  return rowIdText(await services.editor.add(authorOf(principal), menu, args));
}

/** Adds items, all of them or none. Returns their `.id`s. */
export async function addAll(call: Call, list: readonly Arguments[]): Promise<string[]> {
  const { services, menu, principal } = call;
  const { dynamic } = commandsOf(call);
  if (list.some((args) => dynamic?.addsDynamic?.(args))) return (await dynamic?.add?.(services, menu, list)) ?? [];
  const ids = await services.editor.addAll(authorOf(principal), menu, list);
  return ids.map(rowIdText);
}

export async function set(
  call: Call,
  items: readonly string[],
  notFound: (item: string) => ApiError = noSuchItem,
): Promise<void> {
  const { services, menu, args, principal } = call;
  const changes = withoutItem(args);
  const { externalRows, dynamic } = commandsOf(call);
  if (externalRows !== undefined) return externalRows.set(call, items, changes, notFound);
  await refuseDynamic(services, menu, items, notFound);
  dynamic?.refuse?.(changes);
  await services.editor.set(authorOf(principal), menu, items, changes, notFound);
}

/** Changes items, one for each element, which contains the item's `.id`; all of them or none. Returns the `.id`s. */
export async function setAll(call: Call, list: readonly Arguments[]): Promise<string[]> {
  const { services, menu, principal } = call;
  const changes = await new TimeSlicer().map(list, (element, index): ItemChange => {
    const { '.id': item, ...args } = element;
    if (typeof item === 'string' && item !== '') return { item, args };
    throw errors.inElement(index, errors.missingProperty('.id', 'the .id of the item to change'));
  });
  const items = changes.map(({ item }) => item);
  await refuseDynamic(services, menu, items, noSuchItem);
  for (const { args } of changes) commandsOf(call).dynamic?.refuse?.(args);
  const ids = await services.editor.setAll(authorOf(principal), menu, changes);
  return ids.map(rowIdText);
}

export async function remove(
  call: Call,
  items: readonly string[],
  notFound: (item: string) => ApiError = noSuchItem,
): Promise<void> {
  const { services, menu, principal } = call;
  const { externalRows, dynamic } = commandsOf(call);
  if (externalRows !== undefined) return externalRows.remove(call, items, notFound);
  if (dynamic !== undefined) return removeStoredAndDynamic(call, items, notFound, dynamic);
  await refuseDynamic(services, menu, items, notFound);
  await services.editor.remove(authorOf(principal), menu, items, notFound);
}

/**
 * Removes stored items, which must all exist, and dynamic items, which may disappear at any time: only those that still
 * exist are removed.
 */
async function removeStoredAndDynamic(
  { services, menu, principal }: Call,
  items: readonly string[],
  notFound: (item: string) => ApiError,
  rows: DynamicRows,
): Promise<void> {
  const isDynamic = (item: string): boolean => menu.source === 'live' || isDynamicId(item);
  const dynamic = items.filter(isDynamic);
  const stored = items.filter((item) => !isDynamic(item));
  const found = dynamic.length === 0 ? undefined : await rows.find(services, dynamic, notFound);
  if (found?.count === 0 && stored.length === 0) throw notFound(dynamic[0] ?? '');
  // Stored rows are removed first: if their commit is refused, nothing has changed. A removal of dynamic items could
  // not be undone.
  if (stored.length > 0) await services.editor.remove(authorOf(principal), menu, stored, notFound);
  if (found === undefined || found.count === 0) return;
  try {
    await found.remove();
  } catch (error) {
    throw stored.length > 0 && error instanceof AgentGone ? errors.dynamicLeft() : error;
  }
}

export async function setDisabled(call: Call, disabled: boolean): Promise<void> {
  const { services, menu, principal, args } = call;
  const items = await namedItems(args);
  const { externalRows } = commandsOf(call);
  if (externalRows !== undefined) return externalRows.set(call, items, { disabled }, noSuchItem);
  await refuseDynamic(services, menu, items, noSuchItem);
  await services.editor.setDisabled(authorOf(principal), menu, items, disabled);
}

export async function setComment(call: CommandCall): Promise<void> {
  const { services, menu, principal, args } = call;
  const items = await namedItems(args);
  const { comment = '' } = call.values;
  const { externalRows } = commandsOf(call);
  if (externalRows !== undefined) return externalRows.set(call, items, { comment }, noSuchItem);
  await refuseDynamic(services, menu, items, noSuchItem);
  await services.editor.setComment(authorOf(principal), menu, items, comment);
}

export async function unset(call: CommandCall): Promise<void> {
  const { services, menu, principal, args } = call;
  const items = await namedItems(args);
  const names = propertyNames(call);
  await refuseDynamic(services, menu, items, noSuchItem);
  await services.editor.unset(authorOf(principal), menu, items, names);
}

/** The properties that `value-name` names. */
const propertyNames = ({ values }: CommandCall): string[] => (values['value-name'] ?? '').split(',');

/** `reset`: sets properties to their defaults. */
export async function reset(call: CommandCall): Promise<void> {
  const { services, menu, principal, args } = call;
  const changes = defaultsOf(menu, propertyNames(call));
  if (menu.kind === 'settings') await services.editor.setSettings(authorOf(principal), menu, changes);
  else await set({ ...call, args: changes }, await namedItems(args));
}

/** Arguments of `set` that restore the defaults of properties. @throws ApiError for one that has none. */
function defaultsOf(menu: Menu, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.map((name) => {
      const prop = propOf(menu, name);
      if (prop === undefined || prop.readOnly === true) throw errors.unknownParameter(name);
      if (prop.default !== undefined) return [name, prop.default];
      if (prop.unset === true) return [`!${name}`, ''];
      if (name === 'comment') return [name, ''];
      throw errors.badProperty('value-name', `value of value-name: ${name} has no default`);
    }),
  );
}

export async function move(call: Call): Promise<void> {
  const { services, menu, principal, args } = call;
  const place = rowPosition(args, 'destination');
  const items = await namedItems(args);
  await refuseDynamic(services, menu, items, noSuchItem);
  await refuseBesideDynamic(services, menu, place);
  await services.editor.move(authorOf(principal), menu, items, place);
}

/** Dynamic items have a fixed position. */
async function refuseBesideDynamic(services: Services, menu: Menu, { by, item, below }: RowPosition): Promise<void> {
  if (by === undefined) return;
  const why = below
    ? `nothing can be placed after the dynamic item ${item}; place it before the first rule below`
    : `nothing can be placed before the dynamic item ${item}; name the first rule below it`;
  await refuseDynamic(services, menu, [item], noSuchItem, why);
}

/** Names of the items of a menu that the system did not make; undefined where it makes none with a name. */
function namesOfStored({ store }: Services, menu: Menu): ReadonlySet<string> | undefined {
  if (menu.source !== 'union' || nameProp(menu) === undefined) return undefined;
  const names = storedRowsOf(store.snapshot, menu.path).map(({ values }) => values.name ?? '');
  return new Set([...names, ...builtinNames(menu.path)]);
}

/** Refuses changes of dynamic items, which `.id`s or names denote. */
async function refuseDynamic(
  services: Services,
  menu: Menu,
  items: readonly string[],
  notFound: (item: string) => ApiError,
  text?: string,
): Promise<void> {
  const slicer = new TimeSlicer();
  const stored = namesOfStored(services, menu);
  for (const [index, item] of items.entries()) {
    if (slicer.overAt(index)) await slicer.pause();
    if (stored !== undefined && !item.startsWith('*')) {
      if (stored.has(item)) continue;
      const rows = await services.views.get(menu.path)?.();
      if (rows === undefined || indexOfItem(menu, rows, item) === undefined) continue;
      throw errors.failure(text ?? `the dynamic item ${item} can not be changed`);
    }
    if (!isDynamicId(item)) continue;
    // The first dynamic item decides; later ones need no check.
    const rows = await services.views.get(menu.path)?.();
    if (rows !== undefined && indexOfItem(menu, rows, item) !== undefined) {
      throw errors.failure(text ?? `the dynamic item ${item} can not be changed`);
    }
    // Only the data plane knows whether the item exists, and it is not connected.
    throw services.live.connected ? notFound(item) : new AgentGone();
  }
}
