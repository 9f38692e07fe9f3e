import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { compareEngineCase, formatComparisons, interval, verdict } from './against.mjs';

test('the interval of a median is that of order statistics', () => {
  expect(interval([1, 2, 3, 4, 5, 6, 7, 8, 9])).toMatchObject({ ratio: 5, low: 2, high: 8 });
  expect(interval([1, 2, 3, 4, 5, 6, 7, 8, 9]).confidence).toBeCloseTo(1 - 20 / 512);
  expect(interval([6, 1, 5, 2, 4, 3])).toMatchObject({ ratio: 3.5, low: 1, high: 6 });
  expect(interval([1, 2, 3])).toMatchObject({ low: 1, high: 3, confidence: 0.75 });
  expect(interval([1])).toMatchObject({ ratio: 1, low: 1, high: 1, confidence: 0 });
});

test('a case is slower only when its whole interval says so', () => {
  const comparison = { name: 'engine/x', unit: 'packets', here: 1, there: 1, ratio: 1, confidence: 0.96 };
  expect(verdict({ ...comparison, low: 0.9, high: 0.97 })).toBe('slower');
  expect(verdict({ ...comparison, low: 0.97, high: 1.01 })).toContain('not known');
  expect(verdict({ ...comparison, low: 0.99, high: 1.01 })).toBe('not slower');
  expect(verdict({ ...comparison, low: 1.01, high: 1.02 })).toBe('faster');
  const text = formatComparisons([{ ...comparison, low: 0.99, high: 1.01 }], 'a'.repeat(40));
  expect(text).toContain('at least 96 %');
  expect(text).toContain('engine/x  1.000  [0.990, 1.010]  not slower');
});

test('a case that the other commit does not have is no failure, one that fails there or is missing here is', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tollway-against-'));
  try {
    const program = (/** @type {string} */ name, /** @type {string} */ script) => {
      const file = path.join(folder, name);
      writeFileSync(file, `#!/bin/sh\n${script}\n`);
      chmodSync(file, 0o755);
      return file;
    };
    const result = { name: 'engine/x', unit: 'packets', ours: 4, baseline: 2, ratio: 2, io: 'memory', details: [] };
    const knows = program('knows', `echo '${JSON.stringify(result)}'`);
    const lacks = program('lacks', `echo 'tollway-bench: unknown case "engine/x"' >&2; exit 2`);
    const fails = program('fails', `echo 'tollway-bench: a packet went astray' >&2; exit 2`);
    const compare = (/** @type {string} */ here, /** @type {string} */ there) =>
      compareEngineCase({ name: 'engine/x', kind: 'engine' }, { here, there, rounds: 2, quick: true });
    expect(await compare(knows, knows)).toMatchObject({ name: 'engine/x', here: 4, there: 4, ratio: 1 });
    expect(await compare(knows, lacks)).toBeUndefined();
    await expect(compare(knows, fails)).rejects.toThrow('went astray');
    await expect(compare(lacks, knows)).rejects.toThrow('unknown case');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
