// @ts-check
import { expect, it } from 'vitest';
import { violationsOf } from './crates.mjs';

const crate = {
  id: 'a',
  name: 'a',
  version: '1.0.0',
  license: 'MIT OR GPL-3.0-only',
  source: 'registry+https://github.com/rust-lang/crates.io-index',
  dependencies: [],
};

it.each(['MIT', 'MIT/Apache-2.0', '(MIT OR Apache-2.0) AND Unicode-3.0', 'Zlib OR Apache-2.0', 'MIT OR GPL-3.0-only'])(
  'a crate under %s may be used',
  (license) => {
    expect(violationsOf({ ...crate, license })).toEqual([]);
  },
);

it.each(['GPL-3.0-only', 'MIT AND GPL-3.0-only', 'Zlib', 'no expression', null])(
  'a crate under %s is refused',
  (license) => {
    expect(violationsOf({ ...crate, license })).toEqual([expect.stringMatching(/^a 1\.0\.0: licence .* is not among/)]);
  },
);

it.each(['git+https://example.org/a', 'registry+https://example.org/index'])('a crate from %s is refused', (source) => {
  expect(violationsOf({ ...crate, source })).toEqual([`a 1.0.0: comes from ${source}, not from crates.io`]);
});

it('a crate of the workspace needs versions, but for paths', () => {
  const own = { ...crate, source: null };
  const needs = (/** @type {{ name: string, req: string, path?: string }} */ dependency) =>
    violationsOf({ ...own, dependencies: [dependency] });
  expect(needs({ name: 'b', req: '^1' })).toEqual([]);
  expect(needs({ name: 'b', req: '*', path: '/b' })).toEqual([]);
  expect(needs({ name: 'b', req: '*' })).toEqual(['a 1.0.0: depends on any version of b']);
});
