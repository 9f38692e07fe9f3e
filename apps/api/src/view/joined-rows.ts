import { type Menu, propOf } from '@tollway/schema';
import type { AddressColumn } from '../query/membership.js';
import { sortNumber } from '../query/sort-number.js';
import type { TimeSlicer } from '../scheduling/time-slicer.js';
import type { RestRow, RowSet } from './rows.js';

/**
 * Stored rows followed by dynamic rows, of which there may be a million. Whatever dynamic rows provide without decoding
 * texts is provided for all rows; for stored rows it is computed from their texts.
 */
export class JoinedRows implements RowSet {
  readonly #menu: Menu;
  readonly #stored: RowSet;
  readonly #dynamic: RowSet;
  /** Index of the first dynamic row. */
  readonly #boundary: number;
  readonly length: number;

  constructor(menu: Menu, stored: RowSet, dynamic: RowSet) {
    this.#menu = menu;
    this.#stored = stored;
    this.#dynamic = dynamic;
    this.#boundary = stored.length;
    this.length = stored.length + dynamic.length;
  }

  get incomplete(): boolean {
    return this.#dynamic.incomplete === true;
  }

  id(index: number): string {
    const rest = index - this.#boundary;
    return rest < 0 ? this.#stored.id(index) : this.#dynamic.id(rest);
  }

  indexOf(id: string): number | undefined {
    const dynamic = this.#dynamic.indexOf?.(id);
    return dynamic === undefined ? this.#stored.indexOf?.(id) : this.#boundary + dynamic;
  }

  async distinct(property: string, slicer: TimeSlicer): Promise<readonly string[] | undefined> {
    const dynamic = await this.#dynamic.distinct?.(property, slicer);
    if (dynamic === undefined) return undefined;
    const values = new Set<string>();
    for (let index = 0; index < this.#boundary; index += 1) {
      if (slicer.overAt(index)) await slicer.pause();
      values.add(this.#stored.value(index, property) ?? '');
    }
    for (const value of dynamic) values.add(value);
    return [...values];
  }

  value(index: number, property: string): string | undefined {
    const rest = index - this.#boundary;
    return rest < 0 ? this.#stored.value(index, property) : this.#dynamic.value(rest, property);
  }

  row(index: number): RestRow {
    const rest = index - this.#boundary;
    return rest < 0 ? this.#stored.row(index) : this.#dynamic.row(rest);
  }

  range(property: string): AddressColumn | undefined {
    const dynamic = this.#dynamic.range?.(property);
    const spanOf = propOf(this.#menu, property)?.kind.range;
    if (dynamic === undefined || spanOf === undefined) return undefined;
    const boundary = this.#boundary;
    const span = (index: number) => spanOf(this.#stored.value(index, property) ?? '');
    return {
      first: (index) => (index < boundary ? Number(span(index)?.first ?? Number.NaN) : dynamic.first(index - boundary)),
      last: (index) => (index < boundary ? Number(span(index)?.last ?? Number.NaN) : dynamic.last(index - boundary)),
    };
  }

  sortNumbers(column: string): ((index: number) => number) | undefined {
    const dynamic = this.#dynamic.sortNumbers?.(column);
    const kind = propOf(this.#menu, column)?.kind;
    if (dynamic === undefined || kind === undefined) return undefined;
    const boundary = this.#boundary;
    const stored = (index: number) => sortNumber(kind, this.#stored.value(index, column) ?? '') ?? Number.NaN;
    return (index) => (index < boundary ? stored(index) : dynamic(index - boundary));
  }
}
