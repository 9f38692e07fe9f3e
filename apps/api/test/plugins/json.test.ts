import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/plugins/json.js';

/** Near the end of a piece in which long strings are read. */
const NEAR = (1 << 16) - 6;
const text = fc.string({
  unit: fc.constantFrom('"', '\\', '\n', '/', 'u', 'a', '0', 'é', '😀', '\u0001'),
  maxLength: 24,
});
const hex = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

describe('a long string', () => {
  it('is read as JSON.parse reads it, wherever its pieces end', async () => {
    await fc.assert(
      fc.asyncProperty(text, fc.nat(12), text, fc.boolean(), async (before, more, after, escaped) => {
        const inside = JSON.stringify(`${before}${after}`).slice(1, -1);
        const tail = escaped ? [...after].map((char) => [...char].map(hex).join('')).join('') : inside;
        const json = `{"a":"${'x'.repeat(NEAR + more)}${tail}${'y'.repeat(70_000)}","b":["${inside}"]}`;
        expect(await parseJson(json)).toEqual(JSON.parse(json));
      }),
    );
  });

  it.each([
    ['without an end', 'x'],
    ['that ends with an escape', '\\'],
    ['that ends within an escape', '\\u00'],
    ['with an escape that the quote ends', '\\u00"'],
    ['with an escape that there is not', '\\x"'],
    ['with a bare line end', '\n"'],
  ])('%s is refused', async (_what, end) => {
    for (let length = NEAR; length < NEAR + 12; length += 1) {
      await expect(parseJson(`["a","${'x'.repeat(length)}${end}`)).rejects.toMatchObject({
        status: 400,
        detail: expect.stringContaining('at character 6 there should be a string that ends'),
      });
    }
  });
});

it('a number of more than 64 characters is refused', async () => {
  expect(await parseJson(`[${'1'.repeat(64)}]`)).toEqual(['1'.repeat(64)]);
  for (const number of ['1'.repeat(65), `${'1'.repeat(64)}.`, `${'1'.repeat(63)}.5`]) {
    await expect(parseJson(`[${number}]`)).rejects.toMatchObject({
      status: 400,
      detail: expect.stringContaining('at character 2 there should be a value'),
    });
  }
});

it('a name of more than 256 characters is refused', async () => {
  expect(await parseJson(`{"${'x'.repeat(256)}":1}`)).toBeTypeOf('object');
  await expect(parseJson(`{"${'x'.repeat(257)}":1}`)).rejects.toMatchObject({
    status: 400,
    detail: 'a name in the body has 257 characters, and 256 are accepted at most',
  });
});
