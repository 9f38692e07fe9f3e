/**
 * The columns of a grid: they are laid out on its element, measured by the texts that come into view, and widened for
 * longer ones.
 */
import type { Menu } from '@tollway/schema';
import type { LiveMenu } from '../api/live-menu.ts';
import type { Column } from './columns.ts';
import { fitWidth, grownWidths, tracks } from './content-widths.ts';
import { pinOffsets } from './pinned-columns.ts';
import { treePlace } from './tree.ts';

/** Width of a table below which the first column stays in view, instead of the counters, px. */
const NARROW_PX = 560;

export interface GridColumnsOptions {
  readonly scroller: HTMLElement;
  readonly menu: Menu;
  readonly live: LiveMenu;
  /** Called with the widths that fit the content of columns without a width. */
  readonly measured: (widths: readonly (readonly [string, number])[]) => void;
  /** Called with larger widths for longer texts that have come into view. */
  readonly grown: (widths: readonly (readonly [string, number])[]) => void;
}

/** Lays out and measures the columns of one grid. */
export class GridColumns {
  readonly #options: GridColumnsOptions;
  #columns: readonly Column[] = [];
  /** Width of the table, px. */
  #width = 0;

  constructor(options: GridColumnsOptions) {
    this.#options = options;
  }

  get columns(): readonly Column[] {
    return this.#columns;
  }

  /**
   * Lays out the columns. Keeps the counters at the right edge in view if there is space for them, or else the first
   * column.
   */
  layout(columns: readonly Column[], width: number): void {
    this.#columns = columns;
    this.#width = width;
    const { scroller } = this.#options;
    scroller.style.setProperty('--columns', tracks(columns, width));
    const { offsets, fit } = pinOffsets(columns, width);
    for (const [name, offset] of offsets) scroller.style.setProperty(name, offset);
    // If all columns are in view none is sticky, as that would cost a layer for each cell.
    const wider = columns.reduce((sum, column) => sum + (column.width ?? 0), 0) > width;
    scroller.classList.toggle('grid-pinned', fit && wider && width >= NARROW_PX);
    const flags = columns[0]?.name === '.flags' ? (columns[0].width ?? 0) : 0;
    scroller.style.setProperty('--stick', `${flags}px`);
    scroller.classList.toggle('grid-narrow', width > 0 && width < NARROW_PX);
  }

  /** Applies a width while it is being changed. */
  resize(name: string, width: number): void {
    const columns = this.#columns.map((column) => (column.name === name ? { ...column, width } : column));
    this.#options.scroller.style.setProperty('--columns', tracks(columns, this.#width));
  }

  /** Width that fits the loaded content of a column. */
  fit(name: string): number | undefined {
    const column = this.#columns.find((each) => each.name === name);
    return column === undefined ? undefined : fitWidth(this.#options.menu, this.#options.live, column, this.#font());
  }

  /** Measures the columns that have no width yet. */
  measureNew(): void {
    const unknown = this.#columns.filter((column) => column.width === undefined);
    if (unknown.length === 0) return;
    const { menu, live, measured } = this.#options;
    // Rows that were loaded before the list became a tree have no level.
    const [first = ''] = live.shown;
    const placed = treePlace(live.row(first) ?? {}) !== undefined;
    if (placed !== this.#columns.some((column) => column.tree)) return;
    const font = this.#font();
    measured(unknown.map((column) => [column.name, fitWidth(menu, live, column, font)] as const));
  }

  /** Widens columns for longer texts, as far as the table has space. @param longer names of columns with such texts */
  grow(longer: ReadonlySet<string>): void {
    if (longer.size === 0) return;
    const { menu, live, grown } = this.#options;
    const font = this.#font();
    const widths = grownWidths(this.#columns, longer, (column) => fitWidth(menu, live, column, font));
    if (widths.length > 0) grown(widths);
  }

  #font(): string {
    const { fontSize, fontFamily } = getComputedStyle(this.#options.scroller);
    return `${fontSize} ${fontFamily}`;
  }
}
