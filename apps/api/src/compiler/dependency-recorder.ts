/** Records what is looked up while something runs, so that a translation knows what it depends on. */
export class DependencyRecorder<Entry> {
  #record: ((entry: Entry) => void) | undefined;

  /** Called at each look-up. */
  add(entry: Entry): void {
    this.#record?.(entry);
  }

  /** Runs `run` and gives the look-ups that it makes to `record`. */
  during<T>(record: (entry: Entry) => void, run: () => T): T {
    this.#record = record;
    try {
      return run();
    } finally {
      this.#record = undefined;
    }
  }
}
