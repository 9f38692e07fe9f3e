/** A short table with a fixed number of rows, whose texts change without rendering. */
import { write, writeAll } from '../../ui/use-live.ts';

export interface Slot {
  /** Address that the row opens. */
  readonly opens: string;
  /** Texts by name; elements carry the names in `data-live`. */
  readonly texts: Readonly<Record<string, string>>;
  /** Length of the bar, 0 to 1. */
  readonly share: number;
  /** Class of the row, e.g. for its weight. */
  readonly tone?: string;
}

/** Key of a slot, as several slots may open the same window. */
const keyOf = (opens: string, name: string): string => `${opens} ${name}`;

/**
 * The slots at their present positions: `shown` are the keys of the rows. A position whose key is no longer among the
 * slots is undefined; slots without a position are omitted.
 */
export function inPlace(shown: readonly string[], slots: readonly Slot[]): readonly (Slot | undefined)[] {
  const known = new Map(slots.map((slot) => [keyOf(slot.opens, slot.texts.name ?? ''), slot]));
  return shown.map((key) => known.get(key));
}

/**
 * Whether the user is about to open one of the rows, by a resting pointer (which touch does not have) or by the
 * keyboard.
 */
const isPointedAt = (root: HTMLElement): boolean =>
  root.matches(':focus-within') || (window.matchMedia('(hover: hover)').matches && root.matches(':hover'));

/**
 * Fills the rows below `root` with the slots, and hides the remaining rows. While the user is about to open one, rows
 * keep their slots.
 */
export function fillSlots(root: HTMLElement, slots: readonly Slot[], empty: string): void {
  const rows = [...root.querySelectorAll<HTMLElement>('[data-slot]')];
  const shown = rows.filter((row) => !row.hidden).map(shownKey);
  const held = shown.length > 0 && isPointedAt(root);
  const placed = held ? inPlace(shown, slots) : slots;
  for (const [index, row] of rows.entries()) {
    const slot = placed[index];
    const hidden = slot === undefined && !(held && index < shown.length);
    if (row.hidden !== hidden) row.hidden = hidden;
    if (slot === undefined) {
      if (!hidden) forgetFigures(row);
      continue;
    }
    writeAll(row, slot.texts);
    const link = row.querySelector('a');
    if (link !== null && link.getAttribute('href') !== slot.opens) link.setAttribute('href', slot.opens);
    const size = `${Math.round(Math.min(1, Math.max(0, slot.share)) * 100)}% 100%`;
    if (row.style.backgroundSize !== size) row.style.backgroundSize = size;
    const tone = slot.tone ?? '';
    if (row.dataset.tone !== tone) row.dataset.tone = tone;
  }
  writeAll(root, { empty: slots.length === 0 && !held ? empty : '' });
}

function shownKey(row: HTMLElement): string {
  const name = row.querySelector('[data-live="name"]')?.textContent ?? '';
  return keyOf(row.querySelector('a')?.getAttribute('href') ?? '', name);
}

/** Removes the values of a row and keeps the row. */
function forgetFigures(row: HTMLElement): void {
  for (const figure of row.querySelectorAll('[data-live]:not([data-live="name"], [data-live="mark"])'))
    write(figure, '–');
  row.style.backgroundSize = '0% 100%';
}
