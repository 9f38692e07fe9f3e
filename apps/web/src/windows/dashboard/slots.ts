/** A short table with a fixed number of rows, whose texts change without a render. */
import { writeAll } from '../../ui/use-live.ts';

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

/** Fills the rows below `root` with the slots, and hides those that are left. */
export function fillSlots(root: HTMLElement, slots: readonly Slot[], empty: string): void {
  for (const [index, row] of root.querySelectorAll<HTMLElement>('[data-slot]').entries()) {
    const slot = slots[index];
    const hidden = slot === undefined;
    if (row.hidden !== hidden) row.hidden = hidden;
    if (slot === undefined) continue;
    writeAll(row, slot.texts);
    const link = row.querySelector('a');
    if (link !== null && link.getAttribute('href') !== slot.opens) link.setAttribute('href', slot.opens);
    const size = `${Math.round(Math.min(1, Math.max(0, slot.share)) * 100)}% 100%`;
    if (row.style.backgroundSize !== size) row.style.backgroundSize = size;
    const tone = slot.tone ?? '';
    if (row.dataset.tone !== tone) row.dataset.tone = tone;
  }
  writeAll(root, { empty: slots.length === 0 ? empty : '' });
}
