import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TrafficSample } from '@tollway/protocol/live/traffic';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { readSamples, TrafficFile } from '../../src/live/traffic-file.js';

const sample = (t: number, reason = 'runt'): TrafficSample => ({
  t,
  interfaces: {},
  throughput: { bps: 1, pps: 2 },
  queued: { bytes: 0, packets: 0 },
  cpu: [],
  connections: 3,
  fasttrackShare: 0,
  drops: { [reason]: 1 },
});

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollway-samples-'));
  file = join(folder, 'traffic.json');
});
afterEach(() => rm(folder, { recursive: true }));

const times = async () => (await readSamples(file)).map(({ t }) => t);

it('is written while it runs, for its owner only, and not again while nothing is new', async () => {
  const samples = [sample(1), sample(2)];
  const kept = new TrafficFile(file, () => samples, 10);
  samples.push(sample(3));
  await expect.poll(times).toEqual([1, 2, 3]);
  const before = await stat(file);
  expect(before.mode & 0o777).toBe(0o600);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect((await stat(file)).ino).toBe(before.ino);
  samples.shift();
  samples.push(sample(4));
  await expect.poll(times).toEqual([2, 3, 4]);
  samples.push(sample(5));
  await kept.close();
  expect(await times()).toEqual([2, 3, 4, 5]);
  expect(await readdir(folder)).toEqual(['traffic.json']);
});

it('is left out silently where the disk refuses, and leaves nothing half written', async () => {
  const samples: TrafficSample[] = [];
  const kept = new TrafficFile(file, () => samples, 10);
  await mkdir(file);
  samples.push(sample(1));
  await new Promise((resolve) => setTimeout(resolve, 100));
  // It is tried again and again, and between two tries nothing is left.
  await expect.poll(() => readdir(folder), { interval: 3 }).toEqual(['traffic.json']);
  await rm(file, { recursive: true });
  await expect.poll(times).toEqual([1]);
  await kept.close();
  const nowhere = new TrafficFile(join(folder, 'no', 'traffic.json'), () => samples);
  samples.push(sample(2));
  await nowhere.close();
});

it('holds of many large samples the newest ones, which are read again', async () => {
  const samples: TrafficSample[] = [];
  const kept = new TrafficFile(file, () => samples);
  for (let t = 0; t < 300; t += 1) samples.push(sample(t, 'é'.repeat(20_000)));
  await kept.close();
  const held = await times();
  expect(held.length).toBeGreaterThan(50);
  expect(held.at(-1)).toBe(299);
  expect((await stat(file)).size).toBeLessThanOrEqual(4 * 1024 * 1024);
});
