// The engine cases: the figures come from `tollway-bench engine`.
import { runAsync } from './command.mjs';

export async function runEngineCase(entry, { bench, quick }) {
  const args = ['engine', '--case', entry.name, '--quick', String(quick)];
  return JSON.parse(await runAsync(bench, args));
}
