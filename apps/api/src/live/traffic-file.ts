/**
 * Keeps the traffic samples of the last minutes over a restart of the API, in a file. It is written at intervals, as
 * the API may be killed, and when the API ends.
 */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { checkOf } from '@tollway/protocol/check';
import { type TrafficSample, trafficSample } from '@tollway/protocol/live/traffic';

const checkSample = checkOf(trafficSample);

/** Interval of writes, ms: graphs lose at most this time when the process is killed. */
const EVERY_MS = 20_000;

/** Maximum size of the file, bytes; a larger file was not written by {@link TrafficFile}. */
const MAX_BYTES = 4 * 1024 * 1024;

/** The samples of a file, oldest first; none when the file does not exist or is invalid. */
export async function readSamples(file: string): Promise<readonly TrafficSample[]> {
  try {
    const text = await readFile(file, 'utf8');
    const content: unknown = text.length > MAX_BYTES ? [] : JSON.parse(text);
    return Array.isArray(content)
      ? content.map(checkSample).flatMap((checked) => (checked.ok ? [checked.value] : []))
      : [];
  } catch {
    return [];
  }
}

/**
 * Writes the samples to a file. They are used for graphs only: when the disk is full or read-only, the file is not
 * changed, and no message is logged.
 */
export class TrafficFile {
  readonly #file: string;
  readonly #samples: () => readonly TrafficSample[];
  /** Formatted samples, each formatted once: formatting all samples at each write would block the event loop. */
  readonly #texts = new WeakMap<TrafficSample, string>();
  readonly #timer: NodeJS.Timeout;
  #written: TrafficSample | undefined;
  /** The running write: a second one would use the same file name. */
  #writing: Promise<void> | undefined;

  /** @param samples returns the samples to write, oldest first, including those that were read from the file */
  constructor(file: string, samples: () => readonly TrafficSample[], everyMs = EVERY_MS) {
    this.#file = file;
    this.#samples = samples;
    this.#written = samples().at(-1);
    this.#timer = setInterval(() => {
      this.#writing ??= this.#replace().finally(() => {
        this.#writing = undefined;
      });
    }, everyMs).unref();
  }

  /** Writes for the last time. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    await this.#replace();
  }

  async #replace(): Promise<void> {
    const samples = this.#samples();
    const newest = samples.at(-1);
    if (newest === undefined || newest === this.#written) return;
    const fresh = `${this.#file}.new`;
    try {
      await writeFile(fresh, this.#textOf(samples), { mode: 0o600 });
      await rename(fresh, this.#file);
      this.#written = newest;
    } catch {
      // A partial file would take space on a full disk.
      await rm(fresh, { force: true }).catch(() => undefined);
    }
  }

  /** The newest samples as text, as many as the file may hold. */
  #textOf(samples: readonly TrafficSample[]): string {
    const lines: string[] = [];
    let room = MAX_BYTES - 2;
    for (const sample of samples.toReversed()) {
      const text = this.#texts.get(sample) ?? JSON.stringify(sample);
      this.#texts.set(sample, text);
      room -= Buffer.byteLength(text) + 2;
      if (room < 0) break;
      lines.push(text);
    }
    return `[${lines.reverse().join(',\n')}]`;
  }
}
