// @ts-check
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
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

test('a log that has grown large begins anew, and the process goes on with it', async () => {
  const supervisor = new Supervisor(folder, () => undefined, undefined, { bytes: 10_000, checkMs: 20 });
  const program = `let n = 0; setInterval(() => console.log('line ' + n++ + ' ' + 'x'.repeat(1000)), 10);`;
  supervisor.start({ name: 'api', argv: [process.execPath, '-e', program] });
  const file = supervisor.logFile('api');
  await vi.waitFor(() => expect(statSync(`${file}.1`).size).toBeGreaterThan(10_000), { timeout: 30_000 });
  await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toMatch(/^line \d+ x+\n/), { timeout: 30_000 });
  supervisor.stop();
  await endProcesses(supervisor.running, 20_000);
});
