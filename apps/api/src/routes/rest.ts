import { Readable } from 'node:stream';
import { type Menu, takesLists } from '@tollway/schema';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AgentGone } from '../agent/messages.js';
import { requirePermission } from '../auth/permissions.js';
import { type Arguments, refuseLong } from '../config/content.js';
import { isDynamicId, nameProp } from '../config/items.js';
import { ApiError, errors } from '../errors.js';
import { clientGone } from '../plugins/auth.js';
import { filterTest, QueryError } from '../query/query.js';
import { authorOf } from '../rest/author.js';
import { commandOf } from '../rest/commands/run.js';
import { add, addAll, remove, set, setAll } from '../rest/edits.js';
import { isNamed, manyItems, oneItem, projected, projection, proplistOf } from '../rest/listing.js';
import { listOf, presentRows, rowsToSend } from '../rest/long-list.js';
import { findTarget, type Target } from '../rest/target.js';
import { startSlicer, TimeSlicer } from '../scheduling/time-slicer.js';
import type { Answer, Call, Services } from '../services.js';
import { parseRowId, rowIdText } from '../snapshot/snapshot.js';
import { storedRowsOf } from '../snapshot/storage.js';
import type { RowSet, View } from '../view/rows.js';

/** Maximum duration of a request, ms (specification: every request ends within 60 s). */
const TIME_LIMIT_MS = 60_000;
/** Interval of checks whether the user of a running command may still log in, ms. */
const AUTH_RECHECK_MS = 250;

/** The routes that serve every menu of the registry. */
export function restRoutes(app: FastifyInstance, services: Services): void {
  app.get('/rest/*', async (request, reply) => {
    const target = findTarget(pathOf(request));
    const { userId } = request.principal;
    requirePermission(request.principal, 'read');
    const gone = clientGone(reply);
    const wanted = wantedOf(request);
    const isRequested = (property: string) =>
      isNamed(wanted.names, property) || wanted.filters.some(([name]) => name.includes(property));
    const rows = await rowsToSend(viewOf(services, target), isRequested, services.lists, userId, gone);
    const slicer = await startSlicer(gone, userId);
    if (target.item !== undefined) await rows.prepareIds?.(slicer);
    await rows.prepareValues?.(isRequested, slicer);
    return sent(reply, await list(wanted, target, rows, slicer));
  });

  app.put('/rest/*', async (request, reply) => {
    const { menu, item } = findTarget(pathOf(request));
    requireCommand(request, item === undefined ? menu : undefined, 'add');
    const many = await elementsOf(request, menu);
    const call = { services, menu, args: many ? {} : bodyOf(request), principal: request.principal, signal: NEVER };
    const id = many ? await addAll(call, many) : await add(call);
    const rows = await services.views.get(menu.path)?.();
    reply.code(201);
    if (typeof id !== 'string') return rows === undefined ? [] : manyItems(rows, id);
    return rows === undefined ? {} : oneItem(menu, rows, id);
  });

  app.patch('/rest/*', async (request) => {
    const target = findTarget(pathOf(request));
    const { menu, item } = target;
    requireCommand(request, menu, 'set');
    const many = item === undefined ? await elementsOf(request, menu) : undefined;
    if (many !== undefined) {
      const call = { services, menu, args: {}, principal: request.principal, signal: NEVER };
      const ids = await setAll(call, many);
      return manyItems(await rowsOf(services, target), ids);
    }
    const call = callOf(services, request, menu);
    if (menu.kind === 'settings' && item === undefined) {
      await services.editor.setSettings(authorOf(request.principal), menu, call.args);
      return (await rowsOf(services, target)).row(0);
    }
    if (item === undefined) throw errors.badRequest('missing or invalid resource identifier');
    // The response is looked up by `.id`, as the change may rename the item.
    const id = await idOf(services, target, item);
    for (const by of ['.id', 'numbers']) {
      const named = call.args[by];
      if (named === undefined || named === id || named === item) continue;
      throw errors.badProperty(by, `value of ${by}: the path names ${id}, and another item is not changed with it`);
    }
    await set(call, [id], errors.noSuchItem);
    return oneItem(menu, await rowsOf(services, target), id);
  });

  app.delete('/rest/*', async (request, reply) => {
    const { menu, item } = findTarget(pathOf(request));
    requireCommand(request, menu, 'remove');
    if (item === undefined) throw errors.badRequest('missing or invalid resource identifier');
    await remove(callOf(services, request, menu), [item], errors.noSuchItem);
    reply.code(204);
  });

  app.post('/rest/*', async (request, reply) => {
    const { menu, item } = findTarget(pathOf(request));
    const { run, permission } = commandOf({ services, menu }, item);
    requirePermission(request.principal, permission);
    const limit = AbortSignal.timeout(TIME_LIMIT_MS);
    const rights = new AbortController();
    const signal = AbortSignal.any([limit, rights.signal, clientGone(reply)]);
    const looking = setInterval(() => {
      // Reading is permitted to all groups; only a removed or disabled user loses it.
      if (request.principal.isStillAuthorized?.() === false) rights.abort();
    }, AUTH_RECHECK_MS);
    try {
      return sent(reply, await run({ ...callOf(services, request, menu), signal }));
    } catch (error) {
      if (rights.signal.aborted) throw errors.unauthorized();
      if (limit.aborted) throw errors.badRequest('Session closed');
      throw error;
    } finally {
      clearInterval(looking);
    }
  });
}

function pathOf(request: FastifyRequest): string {
  const path = request.url.split('?', 1)[0] ?? '';
  return path.slice('/rest/'.length);
}

/** @throws ApiError 406 when the menu has no such command, 403 when the user may not run it. */
function requireCommand({ principal }: FastifyRequest, menu: Menu | undefined, name: string): void {
  const command = menu?.commands.get(name);
  if (command === undefined) throw errors.verbWithoutCommand(name);
  requirePermission(principal, command.permission);
}

/** `.id` of the item of this `.id` or name. @throws ApiError 404. */
async function idOf(services: Services, target: Target, item: string): Promise<string> {
  const { menu } = target;
  const stored = storedRowsOf(services.store.snapshot, menu.path);
  // Stored items are found without reading their live values from the data plane.
  const row = stored.find(({ id, values }) => (item.startsWith('*') ? id === parseRowId(item) : values.name === item));
  if (row !== undefined && (item.startsWith('*') || nameProp(menu) !== undefined)) return rowIdText(row.id);
  // Only the data plane knows whether the item exists, and it is not connected.
  if (isDynamicId(item) && !services.live.connected) throw new AgentGone();
  return oneItem(menu, await rowsOf(services, target), item)['.id'] ?? item;
}

function viewOf({ views }: Services, { menu }: Target): View {
  const view = views.get(menu.path);
  if (view === undefined) throw errors.verbWithoutCommand('print');
  return view;
}

async function rowsOf(services: Services, target: Target): Promise<RowSet> {
  const rows = await presentRows(viewOf(services, target));
  const slicer = new TimeSlicer();
  await rows.prepareIds?.(slicer);
  await rows.prepareValues?.(() => true, slicer);
  return rows;
}

/** Sends an answer. Fastify sets no content type for streams. */
function sent(reply: FastifyReply, answer: Answer): Answer {
  if (answer instanceof Readable) reply.type('application/json; charset=utf-8');
  return answer;
}

/** Parameters of a GET. */
interface Wanted {
  readonly names: readonly string[] | undefined;
  readonly filters: readonly [name: string, value: string][];
}

/** @throws ApiError when `.proplist` is no list of names. */
function wantedOf(request: FastifyRequest): Wanted {
  const query = new URLSearchParams(request.url.slice(request.url.split('?', 1)[0]?.length ?? 0));
  const names = proplistOf(query.get('.proplist') ?? undefined);
  query.delete('.proplist');
  return { names, filters: [...query] };
}

async function list(
  { names, filters }: Wanted,
  { menu, item }: Target,
  rows: RowSet,
  slicer: TimeSlicer,
): Promise<Answer> {
  const single = menu.kind === 'settings' || menu.kind === 'status';
  if (item !== undefined) {
    if (single) throw errors.noSuchItem();
    return projected([oneItem(menu, rows, item)], names)[0] ?? {};
  }
  if (single) return projected([rows.row(0)], names)[0] ?? {};
  try {
    const test = filters.length === 0 ? undefined : filterTest(menu, filters);
    return await listOf(rows, test, projection(names), slicer);
  } catch (error) {
    throw error instanceof QueryError ? errors.badRequest(error.message) : error;
  }
}

/** A signal that is never aborted: edits cannot be cancelled. */
const NEVER = new AbortController().signal;

function callOf(services: Services, request: FastifyRequest, menu: Call['menu']): Call {
  return { services, menu, args: bodyOf(request), principal: request.principal, signal: NEVER };
}

/** The elements of a body that is a list; undefined for any other body. @throws ApiError 400 for an empty list. */
async function elementsOf({ body }: FastifyRequest, menu: Menu): Promise<Arguments[] | undefined> {
  if (!takesLists(menu) || !Array.isArray(body)) return undefined;
  if (body.length === 0) {
    throw errors.badRequest('the list is empty; give one JSON object or a list of them, e.g. [{"comment":"text"}]');
  }
  return new TimeSlicer().map(body, elementOf);
}

function elementOf(element: unknown, index: number): Arguments {
  if (typeof element === 'object' && element !== null && !Array.isArray(element)) {
    try {
      return argumentsOf(element);
    } catch (error) {
      throw error instanceof ApiError ? errors.inElement(index, error) : error;
    }
  }
  throw errors.inElement(index, errors.badRequest('it must be a JSON object, e.g. {"comment":"text"}'));
}

/** Arguments of the command; a request without a body has none. */
function bodyOf({ body }: FastifyRequest): Arguments {
  if (body === undefined) return {};
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw errors.badRequest('the body must be one JSON object, e.g. {"comment":"text"}');
  }
  return argumentsOf(body);
}

function argumentsOf(object: object): Arguments {
  const values = Object.entries(object);
  for (const [name, value] of values) {
    if (!NAMES_ITEMS.test(name)) refuseLong(name, value);
  }
  return Object.fromEntries(values);
}

/** Arguments that name items have no maximum length, as they are processed in slices. */
const NAMES_ITEMS = /^(\.|numbers$)/;
