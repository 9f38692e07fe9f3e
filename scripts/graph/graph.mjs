// @ts-check
/**
 * The import graph of the TypeScript side: `node scripts/graph/graph.mjs [--draw FILE] [ROOT]` prints violations of the
 * rules, and with `--draw` writes the drawing. It is a separate process, as its parser is available only after `npm
 * ci`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { main, projectRoot, UserError } from '../project.mjs';
import { drawing } from './drawing.mjs';
import { importGraph } from './imports.mjs';
import { LAYERS } from './layers.mjs';
import { arrowsBetween, violations } from './rules.mjs';

/** Folders and files that are examined. */
const SOURCES = [
  'apps/api/src',
  'apps/web/src',
  'e2e',
  'packages/dataplane-agent/scripts',
  'packages/protocol/src',
  'packages/schema/src',
  'scripts',
  'tests',
];

/** @param {readonly string[]} args */
async function run(args) {
  const graph = importGraph(projectRoot, SOURCES);
  const [verb, file] = args;
  if (verb === '--draw' && file !== undefined) {
    const sheets = Object.entries(LAYERS).map(([title, lines]) => {
      return { title: title === '.' ? 'Packages' : title, lines, arrows: arrowsBetween(graph, title, lines).arrows };
    });
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, drawing(sheets));
  }
  const wrong = violations(graph, LAYERS);
  if (wrong.length > 0)
    throw new UserError(`${wrong.join('\n')}\n\nThe layers are declared in scripts/graph/layers.mjs.`);
  return 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main(() => run(process.argv.slice(2)));
