import { QUEUE_MENUS } from '@tollway/protocol/queue-menus';
import { TimeSlicer } from '../scheduling/time-slicer.js';
import type { ConfigSnapshot } from '../snapshot/snapshot.js';
import type { QueueFinding } from './queue-finding.js';
import { lintSteps } from './queues.js';

/** Source of the configuration. */
interface Source {
  readonly snapshot: ConfigSnapshot;
  readonly invalid: ReadonlyMap<number, string>;
}

/** Findings about the newest configuration, computed on request. */
export class QueueHints {
  readonly #source: Source;
  #findingsOf: ConfigSnapshot | undefined;
  #looking: Promise<void> | undefined;
  #findings: readonly QueueFinding[] = [];
  #byRow: ReadonlyMap<number, string> = new Map();

  constructor(source: Source) {
    this.#source = source;
  }

  /**
   * Computes findings about the present configuration, in slices: for ten thousand queues that takes half a second.
   */
  async refresh(): Promise<void> {
    // The running computation may be about an older configuration; the next one is not.
    for (let looks = 0; looks < 2 && !this.#isCurrent(); looks += 1) {
      this.#looking ??= this.#find().finally(() => {
        this.#looking = undefined;
      });
      await this.#looking;
    }
  }

  /** Findings of the last {@link refresh}. */
  get findings(): readonly QueueFinding[] {
    return this.#findings;
  }

  /** Findings about a queue in one text; undefined without any. */
  of(row: number): string | undefined {
    return this.#byRow.get(row);
  }

  #isCurrent(): boolean {
    const [last, { snapshot }] = [this.#findingsOf, this.#source];
    return last !== undefined && MENUS.every((menu) => last.get(menu) === snapshot.get(menu));
  }

  async #find(): Promise<void> {
    const { snapshot, invalid } = this.#source;
    const slicer = new TimeSlicer();
    const findings = await slicer.finish(lintSteps(snapshot, invalid));
    const byRow = new Map<number, string>();
    await slicer.map(findings, ({ row, message }) => {
      const before = byRow.get(row);
      byRow.set(row, before === undefined ? message : `${before}; ${message}`);
    });
    this.#findingsOf = snapshot;
    this.#findings = findings;
    this.#byRow = byRow;
  }
}

/** Menus that findings depend on. */
const MENUS = [...QUEUE_MENUS, '/ip/address'];
