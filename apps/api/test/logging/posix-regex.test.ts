import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { posixRegex, regexProblem } from '../../src/logging/posix-regex.js';

const isFound = (regex: string, text: string): boolean => posixRegex(regex).test(text);

describe('an extended regular expression', () => {
  it.each([
    ['login', 'a login failure', true],
    ['^login', 'a login failure', false],
    ['failure$', 'a login failure', true],
    ['login$', 'a login failure', false],
    ['^$', '', true],
    ['^$', 'x', false],
    ['colou?r', 'color', true],
    ['(ab)+c', 'xababc', true],
    ['(ab)+c', 'xac', false],
    ['a{2}', 'ab a', false],
    ['a{2}', 'baa', true],
    ['^a{2,}$', 'aaaa', true],
    ['^a{1,3}$', 'aaaa', false],
    ['^a{0}b', 'b', true],
    ['ether[12]', 'ether2', true],
    ['ether[^12]', 'ether2', false],
    ['[]x]', ']', true],
    ['[^]x]', ']', false],
    ['[a-]', '-', true],
    ['[\\]', '\\', true],
    ['^[[:digit:]_]+$', '12_3', true],
    ['^[[:alpha:]]+$', 'Grüße', true],
    ['[[:space:]]', 'a b', true],
    ['a.c', 'a😀c', true],
    ['in:ether1|out:ether1', 'input: in:ether2 out:ether1', true],
    ['\\(x\\)\\.\\*', '(x).*', true],
    ['(^a|b$)', 'xb', true],
    ['x*', '', true],
    ['(a*)*b', 'aab', true],
    ['a**', 'b', true],
    ['^a+?$', '', true],
    ['^(ab)*{2}$', 'abab', true],
    ['^[\\d]$', '1', false],
    ['^[[^]$', '^', true],
    ['[[:alpha:]-]', '-', true],
    ['a.c', 'a\nc', true],
    ['^a$', 'a\n', false],
    ['\\€', '1 €', true],
  ])('%s in %j: %s', (regex, text, found) => {
    expect(isFound(regex, text)).toBe(found);
    // What is remembered of a search before does not change the answer.
    const same = posixRegex(regex);
    for (let n = 0; n < 3; n += 1) expect(same.test(text)).toBe(found);
  });

  it.each([
    ['(a', 'missing closing )'],
    ['a)', 'unexpected )'],
    ['[a', 'is not closed'],
    ['*a', 'nothing to repeat'],
    ['a|', 'empty part'],
    ['()', 'empty part'],
    ['\\d', '[[:digit:]]'],
    ['a\\', 'trailing backslash'],
    ['a{x}', 'no repetition'],
    ['a{3,1}', 'invalid repeat count'],
    ['a{256}', 'more than 255'],
    ['[z-a]', 'invalid character class range'],
    ['[[:digits:]]', 'begins no class; there are [:alnum:], '],
    ['(a{200}){200}', 'invalid repeat count'],
    ['a{250}a{250}a{250}', 'too long'],
    ['[[:alpha:]', '[ is not closed'],
    ['[[.a.]]', 'begins no class'],
    ['(?:a)', '? has nothing to repeat'],
    ['(?i)a', '? has nothing to repeat'],
    ['\\bin', '\\b has no meaning'],
    ['\\Qa', '\\Q has no meaning'],
    ['^*', '* has nothing to repeat'],
  ])('%s is none: %s', (text, why) => {
    expect(regexProblem(text)).toContain(why);
  });

  it('finds what a search that tries everything finds', () => {
    const part = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]');
    const { tree: written } = fc.letrec<{ tree: string; several: string }>((tie) => ({
      tree: fc.oneof({ maxDepth: 4 }, part, tie('several')),
      several: fc.oneof(
        fc.tuple(tie('tree'), tie('tree')).map((both) => both.join('')),
        fc.tuple(tie('tree'), tie('tree')).map(([a, b]) => `(${a}|${b})`),
        fc.tuple(tie('tree'), fc.constantFrom('*', '+', '?', '{2}', '{1,2}')).map(([a, often]) => `(${a})${often}`),
      ),
    }));
    const ends = fc.tuple(fc.constantFrom('', '^'), written, fc.constantFrom('', '$')).map((all) => all.join(''));
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 12 });
    fc.assert(
      fc.property(ends, fc.array(text, { minLength: 1, maxLength: 5 }), (regex, texts) => {
        const own = posixRegex(regex);
        const other = new RegExp(regex, 'u');
        for (const each of texts) expect(own.test(each), `${regex} in ${each}`).toBe(other.test(each));
      }),
    );
  });

  it('takes time by the length of the text, whatever it is', () => {
    const text = 'a'.repeat(2_048);
    const began = performance.now();
    for (const regex of ['(a+)+b', '(a|aa)+b', '(.*a){20}b', '^(([a-z])+.)+[A-Z]b$', '(a?){100}a{100}b']) {
      const cruel = posixRegex(regex);
      for (let n = 0; n < 3; n += 1) expect(cruel.test(`${text}${n}`)).toBe(false);
    }
    // One that goes back takes longer than the universe has been there for.
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  it('forgets what it remembers before that is much', () => {
    // Each of a thousand texts leads to other positions.
    const regex = posixRegex('(a|b)*a(a|b){12}c');
    let seed = 1;
    for (let n = 0; n < 300; n += 1) {
      const letters = Array.from({ length: 60 }, () => {
        seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
        return seed & 65_536 ? 'a' : 'b';
      }).join('');
      const found = /[ab]*a[ab]{12}c/.test(`${letters}c`);
      expect(regex.test(`${letters}c`)).toBe(found);
    }
  });
});
