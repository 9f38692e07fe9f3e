// @ts-check
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { endProcesses } from '../process.mjs';
import { Supervisor } from './supervisor.mjs';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'tollway-supervisor-'));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

test('what a process could not do at its end is said', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const supervisor = new Supervisor(folder, () => undefined);
  const program = (/** @type {string} */ atEnd) => [
    process.execPath,
    '-e',
    `process.on('SIGTERM', () => { ${atEnd} }); console.log('ready'); setInterval(() => {}, 1000);`,
  ];
  supervisor.start({ name: 'agent', argv: program(`console.error('eth1 is not as it was'); process.exit(1)`) });
  supervisor.start({ name: 'api', argv: program('process.exit(0)') });
  await vi.waitFor(
    () => {
      for (const name of ['agent', 'api']) expect(readFileSync(supervisor.logFile(name), 'utf8')).toContain('ready');
    },
    { timeout: 30_000 },
  );
  supervisor.stop();
  await endProcesses(supervisor.running, 20_000);
  await vi.waitFor(() => expect(supervisor.running).toEqual([]), { timeout: 10_000 });
  expect(said.mock.calls).toEqual([
    [expect.stringMatching(/^• agent could not end in order \(exit code 1\): ready\neth1 is not as it was$/)],
  ]);
});
