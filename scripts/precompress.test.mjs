import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { precompress } from './precompress.mjs';

test('files of the page have smaller ones beside them; what is small or compressed has none', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tollway-page-'));
  try {
    const large = 'export const x = 1;\n'.repeat(1_000);
    writeFileSync(path.join(folder, 'large.js'), large);
    writeFileSync(path.join(folder, 'small.js'), 'export {}');
    writeFileSync(path.join(folder, 'logo.png'), large);
    precompress(folder);
    precompress(folder);
    expect(readdirSync(folder).sort()).toEqual(['large.js', 'large.js.br', 'large.js.gz', 'logo.png', 'small.js']);
    expect(brotliDecompressSync(readFileSync(path.join(folder, 'large.js.br'))).toString()).toBe(large);
    expect(gunzipSync(readFileSync(path.join(folder, 'large.js.gz'))).toString()).toBe(large);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
