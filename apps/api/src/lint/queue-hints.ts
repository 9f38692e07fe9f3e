import type { ConfigSnapshot } from '../config/snapshot.js';
import { lintQueues, type QueueFinding } from './queues.js';

/** Where the configuration comes from. */
interface Source {
  readonly snapshot: ConfigSnapshot;
  readonly invalid: ReadonlyMap<number, string>;
}

/** Findings about the newest configuration, looked for when somebody asks. */
export class QueueHints {
  readonly #source: Source;
  #of: ConfigSnapshot | undefined;
  #findings: readonly QueueFinding[] = [];
  #byRow: ReadonlyMap<number, string> = new Map();

  constructor(source: Source) {
    this.#source = source;
  }

  findings(): readonly QueueFinding[] {
    this.#look();
    return this.#findings;
  }

  /** All that is to be said about a queue, in one text. */
  of(row: number): string | undefined {
    this.#look();
    return this.#byRow.get(row);
  }

  #look(): void {
    const { snapshot, invalid } = this.#source;
    const menus = ['/queue/simple', '/queue/tree', '/ip/address'];
    const last = this.#of;
    this.#of = snapshot;
    if (last !== undefined && menus.every((menu) => last.get(menu) === snapshot.get(menu))) return;
    this.#findings = lintQueues(snapshot, invalid);
    const byRow = new Map<number, string>();
    for (const { row, message } of this.#findings) {
      const before = byRow.get(row);
      byRow.set(row, before === undefined ? message : `${before}; ${message}`);
    }
    this.#byRow = byRow;
  }
}
