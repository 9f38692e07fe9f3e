// @ts-check
/** Failures in the output of a command. */
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';

/** Maximum number of output lines that are kept: the end of a long output repeats its failures. */
const KEPT = 20_000;
/** Maximum number of characters of a line that are kept. */
const LINE = 400;
/** Maximum number of lines that are shown of a failed command. */
const SHOWN = 60;

/** The last lines of some streams. */
export class LastLines {
  /** @type {string[]} */
  #lines = [];

  /** @param {NodeJS.ReadableStream} stream */
  follow(stream) {
    createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
      this.#lines.push(line.length > LINE ? `${line.slice(0, LINE)}…` : line);
      // Dropped in blocks, so that each line costs little.
      if (this.#lines.length > 2 * KEPT) this.#lines = this.#lines.slice(-KEPT);
    });
  }

  lines() {
    return this.#lines.slice(-KEPT);
  }
}

/** Patterns of lines that report failures, without leading blanks. */
const FAILURES = [
  // vitest: tests, files, and differences from expectations.
  /^(FAIL|×|✗) /,
  /^(\w*Error|Caused by|Unhandled \w+|Serialized Error)\b.*:/,
  // cargo: tests, panics, warnings that are errors, doc tests.
  /^test .*(\.\.\. FAILED|panicked)/,
  /^(thread '.*' .*panicked at|test result: FAILED|error(\[\w+\])?:|panicked at)/,
  /^---- .* ----$/,
  /^assertion .*failed/,
  /^(left|right): /,
  // Playwright: `1) [chromium] › file:1:1 › title`.
  /^\d+\) (\[|.*›)/,
  // tsc and biome.
  /: error TS\d+:/,
  /^\S+:\d+:\d+ (lint|format|parse|assist|suppressions)/,
  /^\S+ (format|lint|assist|organizeImports) ━/,
  // npm, and timeouts of tests.
  /^npm (ERR!|error) /,
  /^(Test timeout of|.*: timed out|Timed out)/i,
];

/**
 * The lines that report failures; if there are none, the last lines.
 * @param {readonly string[]} output lines, with or without escape sequences
 * @returns {string[]} at most 60 different lines, in their order
 */
export function failureLines(output) {
  const plain = output.map((line) => stripVTControlCharacters(line).trimEnd()).filter((line) => line.trim() !== '');
  const failures = [
    ...new Set(plain.map((line) => line.trim()).filter((line) => FAILURES.some((known) => known.test(line)))),
  ];
  if (failures.length === 0) return plain.slice(-SHOWN / 3);
  if (failures.length <= SHOWN) return failures;
  return [...failures.slice(0, SHOWN - 1), `… and ${failures.length - SHOWN + 1} more`];
}
