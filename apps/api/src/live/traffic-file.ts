import { readFile, rename, writeFile } from 'node:fs/promises';
import type { TrafficSample } from './traffic.js';

/** The samples of the last minutes over a restart of the API: written once, when it ends. */

/** Larger files were not written here, bytes. */
const MOST_BYTES = 4 * 1024 * 1024;

/** The samples of a file, oldest first; none when there is no such file or it holds something else. */
export async function readSamples(file: string): Promise<readonly TrafficSample[]> {
  try {
    const text = await readFile(file, 'utf8');
    const content: unknown = text.length > MOST_BYTES ? [] : JSON.parse(text);
    return Array.isArray(content) ? content.filter(isSample) : [];
  } catch {
    return [];
  }
}

/** @throws Error when the disk refuses. */
export async function writeSamples(file: string, samples: readonly TrafficSample[]): Promise<void> {
  const fresh = `${file}.new`;
  await writeFile(fresh, JSON.stringify(samples), { mode: 0o600 });
  await rename(fresh, file);
}

function isSample(value: unknown): value is TrafficSample {
  if (typeof value !== 'object' || value === null) return false;
  const { t, interfaces, throughput, queued, cpu, connections, drops } = value as Partial<TrafficSample>;
  const objects = [interfaces, throughput, queued, drops].every((each) => typeof each === 'object' && each !== null);
  return typeof t === 'number' && objects && Array.isArray(cpu) && typeof connections === 'number';
}
