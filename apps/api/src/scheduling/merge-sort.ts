import type { TimeSlicer } from './time-slicer.js';

/** Indexes of items in a set of rows. */
export type Indexes = Uint32Array<ArrayBuffer>;

/** The numbers 0, 1, 2 … below `length`. */
export function upTo(length: number): Indexes {
  const indexes = new Uint32Array(length);
  for (let index = 0; index < length; index += 1) indexes[index] = index;
  return indexes;
}

export type Compare = (a: number, b: number) => number;

/** Number of items that are sorted without a pause; longer lists are merged from such runs. */
const RUN = 256;

/** Sorts items: a stable merge sort in time slices. */
export async function sorted(items: Indexes, compare: Compare, slicer: TimeSlicer): Promise<Indexes> {
  for (let start = 0; start < items.length; start += RUN) {
    items.subarray(start, start + RUN).sort(compare);
    if (slicer.over) await slicer.pause();
  }
  let [from, to] = [items, new Uint32Array(items.length > RUN ? items.length : 0)];
  for (let width = RUN; width < items.length; width *= 2) {
    for (let start = 0; start < items.length; start += 2 * width) {
      await merge(from, to, start, width, compare, slicer);
    }
    [from, to] = [to, from];
  }
  return from;
}

/** Merges the two sorted runs of length `width` that begin at `start`. */
async function merge(
  from: Indexes,
  to: Indexes,
  start: number,
  width: number,
  compare: Compare,
  slicer: TimeSlicer,
): Promise<void> {
  const middle = Math.min(start + width, from.length);
  const end = Math.min(start + 2 * width, from.length);
  let left = start;
  let right = middle;
  for (let place = start; place < end; place += 1) {
    if (slicer.overAt(place)) await slicer.pause();
    const [a, b] = [from[left] ?? 0, from[right] ?? 0];
    if (right >= end || (left < middle && compare(a, b) <= 0)) {
      to[place] = a;
      left += 1;
    } else {
      to[place] = b;
      right += 1;
    }
  }
}
