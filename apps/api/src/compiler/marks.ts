import type { MarkName } from '@tollway/dataplane-agent';
import { NO_MARK } from '@tollway/schema';
import { DependencyRecorder } from './dependency-recorder.js';
import { InvalidRow } from './invalid-row.js';

type Mark = MarkName['mark'];

/** The number that means no mark. */
const NONE: Mark = 0;

/**
 * Number of a mark, a function of its name alone, so that a revision does not renumber the marks of existing connections.
 * FNV-1a (Fowler, Noll and Vo) over UTF-8, never 0.
 */
export function markOf(name: string): Mark {
  let hash = 0x811c_9dc5;
  for (const byte of Buffer.from(name)) hash = Math.imul(hash ^ byte, 0x0100_0193);
  return hash >>> 0 || 1;
}

/** The marks of a configuration. */
export class Marks {
  readonly #names = new Map<Mark, string>();
  /** Names of marks that are looked up. */
  readonly dependencies = new DependencyRecorder<string>();

  /**
   * Number of a mark by name.
   * @throws InvalidRow when another mark has the same number.
   */
  of(name: string): Mark {
    if (name === NO_MARK) return NONE;
    const mark = markOf(name);
    const known = this.#names.get(mark);
    if (known !== undefined && known !== name) {
      throw new InvalidRow(`mark ${name} has the same number as mark ${known}; give one of them another name`);
    }
    this.#names.set(mark, name);
    this.dependencies.add(name);
    return mark;
  }

  compiled(): MarkName[] {
    return [...this.#names].map(([mark, name]) => ({ mark, name }));
  }
}
