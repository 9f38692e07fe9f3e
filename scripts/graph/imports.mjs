// @ts-check
/**
 * Graph of imports: the TypeScript and JavaScript files of a folder, and an arrow for each import of one by another, also by a
 * pattern of `import.meta.glob`.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

/**
 * Files by path below the root; each with the paths of those that it imports, types as well as values. A package of the
 * project that is imported by its name stands as its `package.json`.
 * @typedef {ReadonlyMap<string, ReadonlySet<string>>} Graph
 */

/** Folders with built, generated or installed files. */
const NOT_SOURCES = new Set(['node_modules', 'dist', 'generated']);
/** Extensions of a file that an import may omit, or spell as the built file (`./store.js` is `store.ts`). */
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
  return new Map(files.map((file) => [file, importsOf(root, packages, files, file)]));
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
 * @param {readonly string[]} files all of the graph
 * @param {string} file
 * @throws Error when the file cannot be parsed, or imports a file of the project that is not there
 */
function importsOf(root, packages, files, file) {
  const text = readFileSync(path.join(root, file), 'utf8');
  const { program, comments, errors } = parseSync(file, text);
  if (errors[0] !== undefined) throw new Error(`${file}: ${errors[0].message}`);
  /** @type {string[]} */
  const names = [];
  const visit = (/** @type {{ source: unknown }} */ { source }) => {
    if (typeof source === 'object' && source !== null && 'value' in source) names.push(String(source.value));
  };
  /** @type {string[]} */
  const globbed = [];
  new Visitor({
    CallExpression: (call) => {
      for (const pattern of globPatterns(call)) globbed.push(...matching(files, file, pattern));
    },
    ImportDeclaration: visit,
    ExportNamedDeclaration: visit,
    ExportAllDeclaration: visit,
    ImportExpression: visit,
    TSImportType: visit,
  }).visit(program);
  if (file.endsWith('.mjs')) {
    for (const { value } of comments) for (const [, name = ''] of value.matchAll(JSDOC_IMPORT)) names.push(name);
  }
  const named = names.flatMap((name) => {
    // `@tollway/protocol/session` belongs to the package `@tollway/protocol`.
    const folder = packages.get(name.split('/', 2).join('/'));
    if (folder !== undefined) return `${folder}/package.json`;
    return name.startsWith('.') ? (resolved(root, file, name) ?? []) : [];
  });
  return new Set([...named, ...globbed]);
}

/**
 * Patterns of a call of `import.meta.glob` (Vite): one, or a list.
 * @param {import('oxc-parser').CallExpression} call
 * @returns {string[]}
 */
function globPatterns({ callee, arguments: [first] }) {
  if (callee.type !== 'MemberExpression' || callee.object.type !== 'MetaProperty') return [];
  if (callee.property.type !== 'Identifier' || callee.property.name !== 'glob') return [];
  const patterns = first?.type === 'ArrayExpression' ? first.elements : [first];
  return patterns.map((pattern) => {
    if (pattern?.type === 'Literal' && typeof pattern.value === 'string') return pattern.value;
    throw new Error('import.meta.glob takes patterns as they are written');
  });
}

/**
 * @param {readonly string[]} files
 * @param {string} file that imports
 * @param {string} pattern with `*` for a name, and `**` for any number of folders
 * @returns {string[]}
 * @throws Error when no file matches
 */
function matching(files, file, pattern) {
  if (!/^\.\.?\//.test(pattern)) throw new Error(`${file} imports ${pattern}, which is no pattern of relative paths`);
  const parts = path.posix.join(path.posix.dirname(file), pattern).split('/');
  const expression = parts.map((part, at) => {
    if (part === '**') return '(?:[^/]+/)*';
    return part.split('*').map(escaped).join('[^/]*') + (at < parts.length - 1 ? '/' : '');
  });
  const regex = new RegExp(`^${expression.join('')}$`);
  const found = files.filter((each) => each !== file && regex.test(each));
  if (found.length === 0) throw new Error(`${file} imports ${pattern}, which no file matches`);
  return found;
}

/** @param {string} text */
const escaped = (text) => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&');

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
