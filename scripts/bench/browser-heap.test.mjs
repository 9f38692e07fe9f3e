// @ts-check
import { expect, it } from 'vitest';
import { held } from './browser-heap.mjs';

it('what the page made is distinguished from compiled code and from what is the browser’s', () => {
  const kinds = ['hidden', 'array', 'string', 'object', 'code', 'closure', 'native', 'synthetic', 'object shape'];
  const meta = { node_fields: ['type', 'name', 'self_size'], node_types: /** @type {[string[]]} */ ([kinds]) };
  const nodes = kinds.flatMap((_, kind) => [kind, 0, 10 ** kind]);
  expect(held({ snapshot: { meta }, nodes })).toEqual({
    values: 10 + 100 + 1000 + 100_000,
    code: 10_000 + 100_000_000,
    native: 1 + 1_000_000 + 10_000_000,
  });
});
