// @ts-check
import { Readable } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { failureLines, LastLines } from './failures.mjs';
import { command, Sections } from './sections.mjs';

const lines = (/** @type {string} */ text) => text.split('\n');

test('vitest: files and tests that failed, and what was not as expected', () => {
  const output = lines(`
\u001b[32m ✓ \u001b[39m api  test/menu.test.ts (3 tests) 12ms
\u001b[41m\u001b[1m FAIL \u001b[22m\u001b[49m api  test/event-loop.test.ts > the event loop goes on > during many names
\u001b[31m\u001b[1mAssertionError\u001b[22m: expected 51.2 to be less than 50\u001b[39m
 ❯ test/event-loop.test.ts:126:16
    124|     expect(ms).toBeLessThan(MAX_MS);
 FAIL  api  test/broken.test.ts [ apps/api/test/broken.test.ts ]
Error: Failed to resolve entry for package "x".
 Test Files  1 failed (1)`);
  expect(failureLines(output)).toEqual([
    'FAIL  api  test/event-loop.test.ts > the event loop goes on > during many names',
    'AssertionError: expected 51.2 to be less than 50',
    'FAIL  api  test/broken.test.ts [ apps/api/test/broken.test.ts ]',
    'Error: Failed to resolve entry for package "x".',
  ]);
});

test('cargo: tests, panics and errors', () => {
  const output = lines(`running 2 tests
test ranks::fit ... ok
test ranks::order ... FAILED

failures:

---- ranks::order stdout ----

thread 'ranks::order' (4711) panicked at crates/engine/src/ranks.rs:12:5:
assertion \`left == right\` failed
  left: 1
 right: 2

failures:
    ranks::order

test result: FAILED. 1 passed; 1 failed; 0 ignored
error: test failed, to rerun pass \`-p tollway-engine --lib\`
error[E0308]: mismatched types`);
  expect(failureLines(output)).toEqual([
    'test ranks::order ... FAILED',
    '---- ranks::order stdout ----',
    "thread 'ranks::order' (4711) panicked at crates/engine/src/ranks.rs:12:5:",
    'assertion `left == right` failed',
    'left: 1',
    'right: 2',
    'test result: FAILED. 1 passed; 1 failed; 0 ignored',
    'error: test failed, to rerun pass `-p tollway-engine --lib`',
    'error[E0308]: mismatched types',
  ]);
});

test('Playwright, tsc and biome', () => {
  const output = lines(`
  ✓  1 [chromium] › tests/login.spec.ts:3:1 › logs in (1.2s)
  1) [chromium] › tests/queues.spec.ts:12:3 › a queue is dragged ───────────

    Error: expect(locator).toHaveText(expected) failed
apps/api/src/app.ts(12,3): error TS2322: Type 'x' is not assignable to type 'y'.
apps/api/src/app.ts:3:10 lint/style/useConst ━━━━━━━━━━
apps/api/src/env.ts format ━━━━━━━━━━
  1 failed`);
  expect(failureLines(output)).toEqual([
    '1) [chromium] › tests/queues.spec.ts:12:3 › a queue is dragged ───────────',
    'Error: expect(locator).toHaveText(expected) failed',
    "apps/api/src/app.ts(12,3): error TS2322: Type 'x' is not assignable to type 'y'.",
    'apps/api/src/app.ts:3:10 lint/style/useConst ━━━━━━━━━━',
    'apps/api/src/env.ts format ━━━━━━━━━━',
  ]);
});

test('output that tells no failure is shown from its end, and much is cut', () => {
  const plain = Array.from({ length: 100 }, (_, n) => `line ${n}`);
  expect(failureLines(plain)).toEqual(plain.slice(-20));
  const many = failureLines(Array.from({ length: 100 }, (_, n) => `FAIL test ${n}`));
  expect(many).toHaveLength(60);
  expect(many.at(-1)).toBe('… and 41 more');
});

test('the last lines of a long run are kept, whatever the lines are like', async () => {
  const last = new LastLines();
  const stream = Readable.from([Array.from({ length: 50_000 }, (_, n) => `line ${n}\n`).join(''), 'x'.repeat(10_000)]);
  last.follow(stream);
  await vi.waitFor(() => expect(last.lines().at(-1)).toHaveLength(401));
  expect(last.lines()).toHaveLength(20_000);
  expect(last.lines().at(-2)).toBe('line 49999');
});

test('what failed in a section stands below the list of sections', async () => {
  /** @type {string[]} */
  const printed = [];
  /** @type {string[]} */
  const written = [];
  const spies = [
    vi.spyOn(console, 'log').mockImplementation((text) => printed.push(String(text))),
    vi.spyOn(console, 'error').mockImplementation(() => undefined),
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0),
  ];
  try {
    const sections = new Sections();
    const script = 'console.log("FAIL api a > b\\nmuch else\\nAssertionError: no"); process.exitCode = 3';
    await sections.run('broken', () => command(process.execPath, ['-e', script]));
    await sections.together(
      [
        {
          title: 'slow',
          body: (out) => command(process.execPath, ['-e', 'setTimeout(() => console.log("last"), 300)'], { out }),
        },
      ],
      [
        {
          title: 'fast',
          body: (out) => command(process.execPath, ['-e', 'console.log("FAIL fast"); process.exit(4)'], { out }),
        },
        { title: 'after it', body: (out) => command(process.execPath, ['-e', 'console.log("still")'], { out }) },
      ],
    );
    await sections.run('whole', () => command(process.execPath, ['-e', 'console.log("Error: of no account")']));
    expect(sections.finish()).toBe(1);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  // Of two that run together the first is shown first, whichever ends before the other.
  const shown = written.join('');
  expect(shown.indexOf('last\n')).toBeGreaterThan(0);
  expect(shown.indexOf('FAIL fast')).toBeGreaterThan(shown.indexOf('last\n'));
  expect(shown.indexOf('still\n')).toBeGreaterThan(shown.indexOf('FAIL fast'));
  expect(printed.slice(-7)).toEqual([
    expect.stringMatching(/^✗ FAILED .* broken$/),
    expect.stringMatching(/^✓ ok .* slow$/),
    expect.stringMatching(/^✗ FAILED .* fast$/),
    expect.stringMatching(/^✓ ok .* after it$/),
    expect.stringMatching(/^✓ ok .* whole$/),
    `\n✗ broken\n  FAIL api a > b\n  AssertionError: no\n  ${process.execPath} -e failed: 3`,
    `\n✗ fast\n  FAIL fast\n  ${process.execPath} -e failed: 4`,
  ]);
});
