import type { TimeSlicer } from '../scheduling/time-slicer.js';
import type { RestRow, RowSet } from './rows.js';

/** One set of rows after the other. */
export class JoinedRows implements RowSet {
  readonly #first: RowSet;
  readonly #second: RowSet;

  constructor(first: RowSet, second: RowSet) {
    this.#first = first;
    this.#second = second;
  }

  get incomplete(): boolean {
    return this.#second.incomplete === true;
  }

  get length(): number {
    return this.#first.length + this.#second.length;
  }

  id(index: number): string {
    const rest = index - this.#first.length;
    return rest < 0 ? this.#first.id(index) : this.#second.id(rest);
  }

  indexOf(id: string): number | undefined {
    const second = this.#second.indexOf?.(id);
    return second === undefined ? this.#first.indexOf?.(id) : this.#first.length + second;
  }

  async distinct(property: string, slicer: TimeSlicer): Promise<readonly string[] | undefined> {
    const second = await this.#second.distinct?.(property, slicer);
    if (second === undefined) return undefined;
    const values = new Set<string>();
    for (let index = 0; index < this.#first.length; index += 1) {
      if (slicer.overAt(index)) await slicer.pause();
      values.add(this.#first.value(index, property) ?? '');
    }
    for (const value of second) values.add(value);
    return [...values];
  }

  value(index: number, property: string): string | undefined {
    const rest = index - this.#first.length;
    return rest < 0 ? this.#first.value(index, property) : this.#second.value(rest, property);
  }

  row(index: number): RestRow {
    const rest = index - this.#first.length;
    return rest < 0 ? this.#first.row(index) : this.#second.row(rest);
  }
}
