// @ts-check
/** Content stamps: a build step runs only when the files it reads have changed since it last succeeded. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { cacheDir, inProject } from './project.mjs';

/** Folders that builds write and never read. */
const MADE = new Set(['node_modules', 'target', 'dist', 'generated', 'test', 'tests', 'bench', 'benches']);

/**
 * @param {readonly string[]} inputs files and folders, relative to the project
 * @param {string} [also] whatever else the result depends on
 */
function contentHash(inputs, also = '') {
  const hash = createHash('sha256').update(also);
  for (const input of inputs) addTo(hash, inProject(input));
  return hash.digest('hex');
}

/** @param {import('node:crypto').Hash} hash @param {string} file */
function addTo(hash, file) {
  if (!existsSync(file)) return;
  if (!statSync(file).isDirectory()) {
    // By the path relative to the project, so that checkouts at other places have the same stamp.
    hash
      .update(`${path.relative(inProject(), file)}\0`)
      .update(readFileSync(file))
      .update('\0');
    return;
  }
  for (const entry of readdirSync(file).sort()) {
    if (!MADE.has(entry) && !entry.endsWith('.tsbuildinfo')) addTo(hash, path.join(file, entry));
  }
}

/**
 * Runs a step unless its inputs are those of its last success and its outputs are there.
 * @param {{ name: string, inputs: readonly string[], outputs: readonly string[], also?: string }} step paths relative to the project
 * @param {() => Promise<void>} build
 * @returns {Promise<boolean>} whether it was run
 */
export async function unlessFresh(step, build) {
  const stamp = path.join(cacheDir, 'stamps', step.name);
  const hash = contentHash(step.inputs, step.also);
  const fresh =
    step.outputs.every((output) => existsSync(inProject(output))) &&
    existsSync(stamp) &&
    readFileSync(stamp, 'utf8') === hash;
  if (fresh) return false;
  rmSync(stamp, { force: true });
  await build();
  mkdirSync(path.dirname(stamp), { recursive: true });
  writeFileSync(stamp, hash);
  return true;
}
