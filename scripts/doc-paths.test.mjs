// @ts-check
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inProject } from './project.mjs';

const tracked = (/** @type {string[]} */ ...patterns) =>
  execFileSync('git', ['ls-files', ...patterns], { cwd: inProject(), encoding: 'utf8' })
    .trim()
    .split('\n');

/** Source files in backticks: a path from any folder on, `{a,b}` for several. */
const PATH = /`([\w./{},-]+\.(?:rs|ts|tsx|mjs|sql|yaml))`/g;

/** Files that `docs/adding/menu.md` tells of as examples of menus that there are not. */
const EXAMPLES = ['menus/ipv6/address.ts', 'menus/interface/bridge/port.ts', 'menus/ip/dhcp-server/lease.ts'];

const alternatives = (/** @type {string} */ path) => {
  const [, before = '', inside = '', after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(path) ?? [];
  return inside === '' ? [path] : inside.split(',').map((one) => before + one + after);
};

test('files that the documentation names exist', () => {
  const files = tracked().map((file) => `/${file}`);
  const missing = tracked('*.md').flatMap((page) =>
    [...readFileSync(inProject(page), 'utf8').matchAll(PATH)]
      .flatMap(([, path = '']) => alternatives(path))
      .filter((path) => !EXAMPLES.includes(path) && !files.some((file) => file.endsWith(`/${path}`)))
      .map((path) => `${page}: ${path}`),
  );
  expect(missing).toEqual([]);
});

/** A declaration of a name: in Rust or TypeScript, as a function, a type or a method. */
const declaration = (/** @type {string} */ name) =>
  new RegExp(
    String.raw`(?:\b(?:fn|function\*?|class|const|struct|trait|enum|interface|type|mod)\s+|macro_rules!\s+)${name}(?![\w-])|^  (?:static |async |\*)*${name}(?:<[^>]*>)?\(.*(?<!;)$`,
    'm',
  );

test('functions that docs/where.md names are in the files that it names', () => {
  const rows = readFileSync(inProject('docs/where.md'), 'utf8').split('\n');
  let folder = '';
  const missing = rows.flatMap((row) => {
    folder = /^Below `(.+)`\.$/.exec(row)?.[1] ?? folder;
    const [, subject = '', paths, names] = /^\| (.+) \| (`.+`) \| (.*)\|$/.exec(row) ?? [];
    if (paths === undefined || names === undefined) return [];
    const words = (/** @type {string} */ cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
    const text = words(paths)
      .map((path) => readFileSync(inProject(`${folder}${path}`), 'utf8'))
      .join('\n');
    return words(names)
      .filter((name) => !declaration(name).test(text))
      .map((name) => `${subject}: ${name}`);
  });
  expect(missing).toEqual([]);
});
