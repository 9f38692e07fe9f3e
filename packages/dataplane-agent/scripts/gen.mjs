// Writes generated/agent.schema.json (from the Rust types) and generated/agent.d.ts (from the schema).
// With --check it writes nothing and fails when either is stale.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { compile } from 'json-schema-to-typescript';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const check = process.argv.includes('--check');
const profile = process.env.TOLLWAY_CARGO_PROFILE ?? 'dev';

const schemaText = execFileSync(
  'cargo',
  ['run', '--quiet', '--locked', '--profile', profile, '-p', 'tollway-config', '--example', 'schema'],
  { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20, stdio: ['ignore', 'pipe', 'inherit'] },
);

/** A `$ref` with a description beside it would become a copy of the type under another name. */
function wrapReferences(node) {
  if (Array.isArray(node)) return node.map(wrapReferences);
  if (typeof node !== 'object' || node === null) return node;
  const { $ref, ...rest } = node;
  const mapped = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, wrapReferences(value)]));
  if ($ref === undefined) return mapped;
  return Object.keys(mapped).length === 0 ? { $ref } : { ...mapped, allOf: [{ $ref }] };
}

const schema = wrapReferences(JSON.parse(schemaText));
const types = await compile(schema, 'Agent', {
  additionalProperties: false,
  bannerComment: '// Generated from the Rust types by scripts/gen.mjs. Do not edit.',
  style: { singleQuote: true, printWidth: 120 },
  unreachableDefinitions: true,
});

let stale = false;
for (const [file, text] of [
  ['generated/agent.schema.json', schemaText],
  ['generated/agent.d.ts', types],
]) {
  const target = path.join(root, file);
  if (!check) {
    writeFileSync(target, text);
    continue;
  }
  let present = '';
  try {
    present = readFileSync(target, 'utf8');
  } catch {
    // A missing file is a stale one.
  }
  if (present !== text) {
    console.error(`${file} is stale: run npm run gen -w packages/dataplane-agent`);
    stale = true;
  }
}
process.exitCode = stale ? 1 : 0;
