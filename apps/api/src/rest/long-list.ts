import { Readable } from 'node:stream';
import { AgentGone } from '../agent/messages.js';
import type { Test } from '../query/query.js';
import type { TimeSlicer } from '../scheduling/time-slicer.js';
import type { UserSemaphore } from '../scheduling/user-semaphore.js';
import { type IsRequested, type RestRow, type RowSet, UNAVAILABLE_ROWS, type View } from '../view/rows.js';

/** Sends lists of any length without blocking other requests and viewers. */

/** Maximum number of items of a response that is built in memory; longer ones are streamed. */
const AT_ONCE = 256;
/** Size of a chunk, characters. */
const CHUNK = 1 << 16;

export type Projection = (rows: RowSet, index: number) => RestRow;

/**
 * The rows of a list.
 *
 * @throws Cancelled when the request was cancelled; AgentGone when only the data plane knows the rows and is not
 * connected.
 */
export const rowsToSend = (
  view: View,
  isRequested: IsRequested,
  lists: UserSemaphore,
  user: number,
  gone: AbortSignal,
): Promise<RowSet> => acquireRows(() => presentRows(view, isRequested), lists, user, gone);

/**
 * Acquires rows that are processed in slices. Each long list keeps a reading of the data plane in memory, of up to a
 * quarter of a million connections, until it has been sent: the number of lists at a time is limited, and a waiting
 * list is read when its turn comes.
 *
 * @param gone aborted when the rows are no longer needed.
 * @throws Cancelled when the request was cancelled; whatever `read` throws.
 */
export async function acquireRows(
  read: () => Promise<RowSet>,
  lists: UserSemaphore,
  user: number,
  gone: AbortSignal,
): Promise<RowSet> {
  let rows: RowSet | undefined = await read();
  if (rows.length <= AT_ONCE) return rows;
  if (!lists.fits(user, 1)) rows = undefined;
  await lists.acquire(user, 1, gone);
  return rows ?? read();
}

/** The present rows of a view. @throws AgentGone when only the data plane knows the rows and is not connected. */
export async function presentRows(view: View, isRequested?: IsRequested): Promise<RowSet> {
  const rows = await view(0, isRequested);
  if (rows === UNAVAILABLE_ROWS) throw new AgentGone();
  return rows;
}

/**
 * Whether to pause before an item. With a test the clock is checked at each item, as a test of many words may take
 * long.
 */
const isOver = (index: number, test: Test | undefined, slicer: TimeSlicer): boolean =>
  test === undefined ? slicer.overAt(index) : slicer.over;

/** Number of items that pass a test; of all items without a test. @throws Cancelled when the request was cancelled. */
export async function countOf(rows: RowSet, test: Test | undefined, slicer: TimeSlicer): Promise<number> {
  if (test === undefined) return rows.length;
  let count = 0;
  for (let index = 0; index < rows.length; index += 1) {
    if (slicer.over) await slicer.pause();
    if (test(rows, index)) count += 1;
  }
  return count;
}

/**
 * The items that pass a test: a list, or a stream of JSON if the list is long.
 * @throws Cancelled when the request was cancelled.
 */
export async function listOf(
  rows: RowSet,
  test: Test | undefined,
  project: Projection,
  slicer: TimeSlicer,
): Promise<readonly RestRow[] | Readable> {
  if (rows.length > AT_ONCE) return Readable.from(json(rows, test, project, slicer));
  const list: RestRow[] = [];
  for (let index = 0; index < rows.length; index += 1) {
    if (isOver(index, test, slicer)) await slicer.pause();
    if (test === undefined || test(rows, index)) list.push(project(rows, index));
  }
  return list;
}

async function* json(
  rows: RowSet,
  test: Test | undefined,
  project: Projection,
  slicer: TimeSlicer,
): AsyncGenerator<string, void> {
  let text = '[';
  let first = true;
  for (let index = 0; index < rows.length; index += 1) {
    if (isOver(index, test, slicer)) await slicer.pause();
    if (text.length > CHUNK) {
      yield text;
      text = '';
    }
    if (test !== undefined && !test(rows, index)) continue;
    text += `${first ? '' : ','}${JSON.stringify(project(rows, index))}`;
    first = false;
  }
  yield `${text}]`;
}
