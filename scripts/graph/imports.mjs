// @ts-check
/** Graph of imports: the TypeScript and JavaScript files of a folder, and an arrow for each import of one by another. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

/**
 * Files by path below the root; each with the paths of those that it imports, types as well as values. A package of the
 * project that is imported by its name stands as its `package.json`.
 * @typedef {ReadonlyMap<string, ReadonlySet<string>>} Graph
 */

/** Folders that hold what is built, generated or installed. */
const NOT_SOURCES = new Set(['node_modules', 'dist', 'generated']);
/** Endings of a file that an import may leave out, or spell as what is built of it (`./store.js` is `store.ts`). */
const ENDINGS = ['.ts', '.tsx'];
/** Imports of types in JSDoc. */
const JSDOC_IMPORT = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

/**
 * @param {string} root
 * @param {readonly string[]} folders below the root
 * @returns {Graph}
 */
export function importGraph(root, folders) {
  const files = folders.flatMap((folder) => sourcesBelow(root, folder));
  const packages = workspacePackages(root);
  return new Map(files.map((file) => [file, importsOf(root, packages, file)]));
}

/** Folders of the project's own packages, by name. @param {string} root @returns {ReadonlyMap<string, string>} */
function workspacePackages(root) {
  const read = (/** @type {string} */ folder) =>
    JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8'));
  /** @type {readonly string[]} */
  const folders = read('.').workspaces ?? [];
  return new Map(folders.map((folder) => [read(folder).name, folder]));
}

/** @param {string} root @param {string} folder @returns {string[]} */
function sourcesBelow(root, folder) {
  const entries = readdirSync(path.join(root, folder), { withFileTypes: true });
  return entries.flatMap((entry) => {
    const name = path.posix.join(folder, entry.name);
    if (entry.isDirectory()) return NOT_SOURCES.has(entry.name) ? [] : sourcesBelow(root, name);
    return /\.(ts|tsx|mjs)$/.test(name) && !/\.(test|d)\.\w+$/.test(name) ? [name] : [];
  });
}

/**
 * @param {string} root
 * @param {ReadonlyMap<string, string>} packages
 * @param {string} file
 * @throws Error when the file cannot be parsed, or imports a file of the project that is not there
 */
function importsOf(root, packages, file) {
  const text = readFileSync(path.join(root, file), 'utf8');
  const { program, comments, errors } = parseSync(file, text);
  if (errors[0] !== undefined) throw new Error(`${file}: ${errors[0].message}`);
  /** @type {string[]} */
  const names = [];
  const visit = (/** @type {{ source: unknown }} */ { source }) => {
    if (typeof source === 'object' && source !== null && 'value' in source) names.push(String(source.value));
  };
  new Visitor({
    ImportDeclaration: visit,
    ExportNamedDeclaration: visit,
    ExportAllDeclaration: visit,
    ImportExpression: visit,
    TSImportType: visit,
  }).visit(program);
  if (file.endsWith('.mjs')) {
    for (const { value } of comments) for (const [, name = ''] of value.matchAll(JSDOC_IMPORT)) names.push(name);
  }
  return new Set(
    names.flatMap((name) => {
      // `@tollway/protocol/session` is of the package `@tollway/protocol`.
      const folder = packages.get(name.split('/', 2).join('/'));
      if (folder !== undefined) return `${folder}/package.json`;
      return name.startsWith('.') ? (resolved(root, file, name) ?? []) : [];
    }),
  );
}

/**
 * @param {string} root
 * @param {string} file that imports
 * @param {string} name as it is spelled
 * @returns {string | undefined} undefined for what is no module: a style sheet, an image
 */
function resolved(root, file, name) {
  const target = path.posix.join(path.posix.dirname(file), name);
  const stem = target.replace(/\.js$/, '');
  const found = [target, ...ENDINGS.map((ending) => stem + ending)].find((each) => existsSync(path.join(root, each)));
  if (found === undefined) throw new Error(`${file} imports ${name}, which is not there`);
  return /\.(ts|tsx|mjs)$/.test(found) ? found : undefined;
}
