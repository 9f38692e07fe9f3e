import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { noRows } from '../api/live-rows.ts';
import { AwaitedRow } from './added-rows.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function awaiting(all: readonly string[]) {
  const live = { shown: ['*1', '*2'] as readonly string[], state: { ...noRows, first: 40 } };
  const show = vi.fn<(index: number) => void>();
  const search = vi.fn(async () => all);
  const missing = vi.fn<() => void>();
  return { live, show, search, missing, row: new AwaitedRow(live, show, search, missing) };
}

test('a row that comes into the loaded part is shown at its place, and nothing is asked for', async () => {
  const { live, show, search, row } = awaiting([]);
  row.wait('*3');
  row.check();
  expect(show).not.toHaveBeenCalled();
  live.shown = ['*1', '*3', '*2'];
  row.check();
  expect(show).toHaveBeenCalledExactlyOnceWith(41);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(search).not.toHaveBeenCalled();
});

test('the place of a row outside of it is asked for; one that Find hides is reported', async () => {
  const far = awaiting(['*1', '*2', '*9']);
  far.row.wait('*9');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(far.show).toHaveBeenCalledExactlyOnceWith(2);
  const hidden = awaiting(['*1']);
  hidden.row.wait('*9');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(hidden.show).not.toHaveBeenCalled();
  expect(hidden.missing).toHaveBeenCalledOnce();
});
