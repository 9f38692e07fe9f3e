// @ts-check
/** The engine cases: `tollway-bench engine` measures and prints the result. */
import { runAsync } from './background.mjs';

/**
 * @param {import('./cases.mjs').EngineCase} entry
 * @param {{ bench: string, quick: boolean }} options
 * @returns {Promise<import('./report.mjs').Result>}
 */
export async function runEngineCase(entry, { bench, quick }) {
  return JSON.parse(await runAsync([bench, 'engine', '--case', entry.name, '--quick', String(quick)]));
}
