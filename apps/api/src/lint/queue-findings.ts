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
export class QueueFindings {
  readonly #source: Source;
  #findingsOf: ConfigSnapshot | undefined;
  #running: Promise<void> | undefined;
  #findings: readonly QueueFinding[] = [];
  #byRow: ReadonlyMap<number, string> = new Map();

  constructor(source: Source) {
    this.#source = source;
  }

  /**
   * Computes the findings about the present configuration in time slices, as ten thousand queues take half a second.
   */
  async refresh(): Promise<void> {
    // A computation that is already running may be about an older configuration; the second attempt is not.
    for (let attempts = 0; attempts < 2 && !this.#isCurrent(); attempts += 1) {
      this.#running ??= this.#find().finally(() => {
        this.#running = undefined;
      });
      await this.#running;
    }
  }

  /** Findings that the last {@link refresh} computed. */
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
