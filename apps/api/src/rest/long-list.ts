import { Readable } from 'node:stream';
import type { Test } from '../config/query.js';
import { Slices } from '../live/slices.js';
import type { RestRow, RowSet } from '../view/rows.js';

/** Lists, however long: requests and viewers that come meanwhile need not wait for their end. */

/** Items that are decoded and written in one go. */
const AT_ONCE = 4_096;

export type Projection = (rows: RowSet, index: number) => RestRow;

/** Items that pass a test; all of them without one. @throws Stopped when nobody waits for it any more. */
export async function countOf(rows: RowSet, test: Test | undefined, gone: AbortSignal): Promise<number> {
  if (test === undefined) return rows.length;
  const slices = new Slices(gone);
  let count = 0;
  for (let index = 0; index < rows.length; index += 1) {
    if (slices.overAt(index)) await slices.pause();
    if (test(rows, index)) count += 1;
  }
  return count;
}

/**
 * The items that pass a test: a list, or for long ones a stream of its JSON.
 * @throws Stopped when nobody waits for it any more.
 */
export async function listOf(
  rows: RowSet,
  test: Test | undefined,
  project: Projection,
  gone: AbortSignal,
): Promise<readonly RestRow[] | Readable> {
  if (rows.length > AT_ONCE) return Readable.from(json(rows, test, project, gone));
  const slices = new Slices(gone);
  const list: RestRow[] = [];
  for (let index = 0; index < rows.length; index += 1) {
    if (slices.overAt(index)) await slices.pause();
    if (test === undefined || test(rows, index)) list.push(project(rows, index));
  }
  return list;
}

async function* json(
  rows: RowSet,
  test: Test | undefined,
  project: Projection,
  gone: AbortSignal,
): AsyncGenerator<string, void> {
  const slices = new Slices(gone);
  let text = '[';
  let first = true;
  for (let index = 0; index < rows.length; index += 1) {
    if (slices.overAt(index)) await slices.pause();
    if (text.length > 1 << 16) {
      yield text;
      text = '';
    }
    if (test !== undefined && !test(rows, index)) continue;
    text += `${first ? '' : ','}${JSON.stringify(project(rows, index))}`;
    first = false;
  }
  yield `${text}]`;
}
