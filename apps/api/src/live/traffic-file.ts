/**
 * Keeps the traffic samples of the last minutes over a restart of the API: in a file that is written at intervals, as the API
 * may be killed, and at its end.
 */
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { checkOf } from '@tollway/protocol/check';
import { type TrafficSample, trafficSample } from '@tollway/protocol/live/traffic';

const checkSample = checkOf(trafficSample);

/** Interval of writing, ms: the most that graphs lose when the process is killed. */
const EVERY_MS = 20_000;

/** Size limit of the file, bytes; a larger one was not written by {@link TrafficFile}. */
const MAX_BYTES = 4 * 1024 * 1024;

/** The samples of a file, oldest first; none when there is no such file or it holds something else. */
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
 * Writes the samples to a file. They are for graphs only: where the disk is full or read-only the file stays as it is, and
 * no message is written.
 */
export class TrafficFile {
  readonly #file: string;
  readonly #samples: () => readonly TrafficSample[];
  /** Texts of samples, each formatted once: all of them together would block the event loop. */
  readonly #texts = new WeakMap<TrafficSample, string>();
  readonly #timer: NodeJS.Timeout;
  #written: TrafficSample | undefined;
  /** The running write: a second one would use the same file name. */
  #writing: Promise<void> | undefined;

  /** @param samples what is to be kept, oldest first; it may have been read from the file */
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

  /** The newest samples, as many as a file may hold. */
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
