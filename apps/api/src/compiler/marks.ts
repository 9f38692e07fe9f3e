import type { MarkName } from '@tollway/dataplane-agent';
import { NO_MARK } from '@tollway/schema';
import { CannotWork } from './cannot-work.js';

type Mark = MarkName['mark'];

/** The number of packets and connections without a mark. */
const NONE: Mark = 0;

/**
 * Number of a mark, of its name alone: a revision that adds marks leaves those of packets and connections under way as
 * they are. FNV-1a (Fowler, Noll and Vo) over UTF-8, never 0.
 */
export function markOf(name: string): Mark {
  let hash = 0x811c_9dc5;
  for (const byte of Buffer.from(name)) hash = Math.imul(hash ^ byte, 0x0100_0193);
  return hash >>> 0 || 1;
}

/** The marks that a configuration names. */
export class Marks {
  readonly #names = new Map<Mark, string>();
  #noted: Set<string> | undefined;

  /**
   * Number of a mark by name.
   * @throws CannotWork when another name that was asked for before has the same number.
   */
  of(name: string): Mark {
    if (name === NO_MARK) return NONE;
    const mark = markOf(name);
    const known = this.#names.get(mark);
    if (known !== undefined && known !== name) {
      throw new CannotWork(`mark ${name} has the same number as mark ${known}; give one of them another name`);
    }
    this.#names.set(mark, name);
    this.#noted?.add(name);
    return mark;
  }

  /** Runs `run` and notes in `named` which marks it asks for. */
  noting<T>(named: Set<string>, run: () => T): T {
    this.#noted = named;
    try {
      return run();
    } finally {
      this.#noted = undefined;
    }
  }

  compiled(): MarkName[] {
    return [...this.#names].map(([mark, name]) => ({ mark, name }));
  }
}
