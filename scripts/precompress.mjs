// @ts-check
/**
 * Compresses the files of the built page in the formats that the API sends: adds `x.js.br` and `x.js.gz` for `x.js` if
 * they are smaller.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Minimum size of a file that is compressed, bytes. */
const MIN_COMPRESSED = 512;

/** Extensions of compressed formats, and of the files that this script writes. */
const PACKED = new Set(['.png', '.ico', '.woff2', '.br', '.gz']);

/** @param {string} folder the built page */
export function precompress(folder) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || PACKED.has(path.extname(entry.name).toLowerCase())) continue;
    const file = path.join(entry.parentPath, entry.name);
    const body = readFileSync(file);
    if (body.length < MIN_COMPRESSED) continue;
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: body.length };
    const encoded = { br: brotliCompressSync(body, { params }), gz: gzipSync(body, { level: 9 }) };
    for (const [suffix, bytes] of Object.entries(encoded)) {
      if (bytes.length < body.length) writeFileSync(`${file}.${suffix}`, bytes);
    }
  }
}
