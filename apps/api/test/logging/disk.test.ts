import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { DiskLog } from '../../src/logging/disk.js';
import type { DiskSettings } from '../../src/logging/settings.js';
import { eventually } from '../eventually.js';

let folder: string;
let reports: string[];
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'tollway-log-')), 'log');
  reports = [];
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(join(folder, '..'), { recursive: true, force: true });
});

const SETTINGS: DiskSettings = { fileName: 'log', linesPerFile: 3, fileCount: 2, stopOnFull: false };
const disk = (more: Partial<DiskSettings> = {}): DiskLog =>
  new DiskLog(folder, { ...SETTINGS, ...more }, (severity, text) => reports.push(`${severity}: ${text}`));

/** Writes messages with these texts, and waits until they are on disk. */
async function written(texts: readonly string[], more: Partial<DiskSettings> = {}): Promise<void> {
  const log = disk(more);
  for (const text of texts) log.write({ timeMs: 0, topics: 'system,info', text });
  await log.close();
}

/** Texts of the messages in a file. */
const texts = (name: string): string[] =>
  readFileSync(join(folder, name), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => /^1970-01-01 \d\d:00:00 system,info (.*)$/.exec(line)?.[1] ?? line);

const files = (): string[] => readdirSync(folder).sort();

it('nothing is made before there is something to write', async () => {
  await written([]);
  expect(() => files()).toThrow();
});

it('a full file gets the next number, and the last one goes', async () => {
  await written(['1', '2', '3', '4']);
  expect(files()).toEqual(['log.0.txt', 'log.1.txt']);
  expect(texts('log.0.txt')).toEqual(['4']);
  expect(texts('log.1.txt')).toEqual(['1', '2', '3']);
  // The next run goes on where this one has ended.
  await written(['5', '6', '7', '8']);
  expect(files()).toEqual(['log.0.txt', 'log.1.txt']);
  expect(texts('log.0.txt')).toEqual(['7', '8']);
  expect(texts('log.1.txt')).toEqual(['4', '5', '6']);
});

it('the newest messages are kept in order, whatever the runs they were written in', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 4 }),
      async (linesPerFile, fileCount, runs) => {
        rmSync(folder, { recursive: true, force: true });
        let next = 0;
        for (const count of runs) {
          await written(
            Array.from({ length: count }, () => `m${next++}`),
            { linesPerFile, fileCount },
          );
        }
        if (next === 0) return;
        const names = Array.from({ length: fileCount }, (_, number) => `log.${number}.txt`);
        const found = files();
        expect(names).toEqual(expect.arrayContaining(found));
        const kept = found.reverse().map(texts);
        for (const lines of kept.slice(0, -1)) expect(lines).toHaveLength(linesPerFile);
        const all = Array.from({ length: next }, (_, number) => `m${number}`);
        expect(kept.flat()).toEqual(all.slice(-kept.flat().length));
        const most = linesPerFile * (fileCount - 1);
        expect(kept.flat().length).toBeGreaterThanOrEqual(Math.min(next, most + 1));
      },
    ),
    { numRuns: 30 },
  );
});

it('when all files are full and it is to stop then, it says so once and writes no more', async () => {
  await written(['1', '2', '3', '4', '5', '6', '7', '8'], { stopOnFull: true });
  expect(texts('log.1.txt')).toEqual(['1', '2', '3']);
  expect(texts('log.0.txt')).toEqual(['4', '5', '6']);
  expect(reports).toEqual(['warning: all 2 files are full; nothing more is written']);
});

it('fewer files are kept from the next full one on; those of other names stay', async () => {
  await written(['1', '2', '3', '4', '5', '6', '7'], { fileCount: 3 });
  writeFileSync(join(folder, 'log.old.txt'), '');
  writeFileSync(join(folder, 'log.x.1.txt'), '');
  await written(['8', '9', '10'], { fileCount: 1 });
  expect(files()).toEqual(['log.0.txt', 'log.old.txt', 'log.x.1.txt']);
  expect(texts('log.0.txt')).toEqual(['10']);
});

it('a line whose end is missing after a crash does not run into the next one', async () => {
  mkdirSync(folder);
  writeFileSync(join(folder, 'log.0.txt'), '1970-01-01 00:00:00 system,info whole\n1970-01-01 00:00:00 system,in');
  await written(['next']);
  expect(texts('log.0.txt')).toEqual(['whole', 'next']);
});

it('a file that is moved away is made anew', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const log = disk();
  log.write({ timeMs: 0, topics: 'system,info', text: 'before' });
  await eventually(() => expect(texts('log.0.txt')).toEqual(['before']));
  rmSync(join(folder, 'log.0.txt'));
  vi.advanceTimersByTime(10_000);
  log.write({ timeMs: 0, topics: 'system,info', text: 'after' });
  await log.close();
  expect(texts('log.0.txt')).toEqual(['after']);
});

it('a disk that takes nothing is reported once, and again when it takes messages', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  // The folder cannot be made where there is a file.
  writeFileSync(folder, '');
  const log = disk();
  const write = (text: string) => log.write({ timeMs: 0, topics: 'system,info', text });
  write('1');
  await eventually(() => expect(reports).toHaveLength(1));
  expect(reports[0]).toMatch(
    /^error: .*log\.0\.txt cannot be written: .*; messages are dropped until it can be written$/,
  );
  write('2');
  vi.advanceTimersByTime(6_000);
  write('3');
  rmSync(folder);
  await eventually(() => {
    // An attempt that was under way may have failed.
    vi.advanceTimersByTime(6_000);
    write('4');
    expect(reports).toHaveLength(2);
  });
  expect(reports[1]).toMatch(/^info: works again; \d+ messages were dropped$/);
  await log.close();
  expect(texts('log.0.txt').at(-1)).toBe('4');
});

it('a link at the place of the file leads nowhere', async () => {
  mkdirSync(folder);
  const elsewhere = join(folder, '..', 'elsewhere');
  writeFileSync(elsewhere, 'precious\n');
  symlinkSync(elsewhere, join(folder, 'log.0.txt'));
  await written(['1']);
  expect(readFileSync(elsewhere, 'utf8')).toBe('precious\n');
  expect(reports).toHaveLength(1);
});

it('files are for their owner only', async () => {
  const umask = process.umask(0);
  try {
    await written(['1']);
  } finally {
    process.umask(umask);
  }
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, 'log.0.txt')).mode & 0o777).toBe(0o600);
});

it.runIf(process.getuid?.() === 0)(
  'a full disk is reported once; lines stay whole, and go on when there is room',
  async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    mkdirSync(folder);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder]);
    try {
      const log = disk({ linesPerFile: 1_000 });
      const write = (text: string) => log.write({ timeMs: 0, topics: 'system,info', text: text.padEnd(1_500, '.') });
      for (let n = 0; n < 100; n += 1) {
        write(`m${n}`);
        if (n % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      await eventually(() => expect(reports).toHaveLength(1));
      expect(reports[0]).toMatch(/^error: the disk is full: .*log\.0\.txt takes nothing; messages are dropped/);
      const before = texts('log.0.txt');
      expect(before.length).toBeLessThan(100);
      execFileSync('mount', ['-o', 'remount,size=1m', folder]);
      await eventually(() => {
        vi.advanceTimersByTime(6_000);
        write('last');
        expect(reports).toHaveLength(2);
      });
      expect(reports[1]).toMatch(/^info: works again; \d+ messages were dropped$/);
      await log.close();
      const after = texts('log.0.txt');
      expect(after.slice(0, before.length)).toEqual(before);
      for (const text of after) expect(text).toMatch(/^(m\d+|last)\.+$/);
      expect(after.at(-1)).toMatch(/^last/);
    } finally {
      execFileSync('umount', [folder]);
    }
  },
);
