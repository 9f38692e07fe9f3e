// @ts-check
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { firstLoad, loadedBy, tooLarge } from './first-load.mjs';

const PAGE = `<link rel="icon" href="/icon.svg" type="image/svg+xml" />
<script type="module" crossorigin src="/a.js"></script>
<link rel="modulepreload" crossorigin href="/b.js">
<link rel="stylesheet" crossorigin href="/c.css"></head>`;

test('a page loads its scripts, what they import, and its style sheets', () => {
  expect(loadedBy(PAGE)).toEqual(['/a.js', '/b.js', '/c.css']);
});

test('the first load is the sum of the compressed files, and one that is too large says so', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tollway-first-load-'));
  try {
    writeFileSync(path.join(folder, 'index.html'), PAGE);
    for (const name of ['a.js', 'b.js', 'c.css', 'icon.svg']) {
      writeFileSync(path.join(folder, name), 'x'.repeat(4_000));
    }
    const bytes = firstLoad(folder);
    expect(bytes).toBeGreaterThan(3 * 20);
    expect(bytes).toBeLessThan(1_000);
    expect(tooLarge(bytes)).toBeUndefined();
    expect(tooLarge(bytes, bytes)).toBeUndefined();
    expect(tooLarge(2_048, 1_024)).toMatch(/2\.0 KiB .* at most 1\.0 KiB/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
