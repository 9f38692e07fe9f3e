// @ts-check
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseOptions } from './options.mjs';

describe('an option that takes a value', () => {
  it.each([[['--data-dir', '--memory']], [['--listen', '--no-lab']], [['--ports', '--take-over']], [['--data-dir']]])(
    '%j has none',
    (argv) => {
      expect(() => parseOptions(argv)).toThrow(`${argv[0]} needs a value`);
    },
  );

  it('has one that looks like an option behind an equals sign', () => {
    expect(basename(parseOptions(['--data-dir=--memory']).dataDir)).toBe('--memory');
  });
});
