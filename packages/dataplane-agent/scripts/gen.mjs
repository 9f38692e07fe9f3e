// Writes generated/agent.schema.json (from the Rust types), generated/agent.d.ts (from the schema), and
// generated/records.js with its types: where the fields of packed records are, and constants of the protocol.
// With --check it writes nothing and fails when either is stale.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { compile } from 'json-schema-to-typescript';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const check = process.argv.includes('--check');
const profile = process.env.TOLLWAY_CARGO_PROFILE ?? 'dev';

/** Output of an example of the crate `config`. */
const printed = (example) =>
  execFileSync(
    'cargo',
    ['run', '--quiet', '--locked', '--profile', profile, '-p', 'tollway-config', '--example', example],
    { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20, stdio: ['ignore', 'pipe', 'inherit'] },
  );

const schemaText = printed('schema');

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

/** `TokenBucketRecord` and `queue_part` as names of TypeScript. */
const camelCase = (name) => {
  const joined = name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
  return joined[0].toLowerCase() + joined.slice(1);
};
const propertyName = (name) => (/^[a-zA-Z]\w*$/.test(name) ? name : `'${name}'`);

/** The modules of the records: values, and their types. */
function recordModules({ records, codes, constants }) {
  const values = ['// Generated from the Rust types by scripts/gen.mjs. Do not edit.', ''];
  const types = [...values];
  const both = (value, type = value) => {
    values.push(value);
    types.push(type);
  };
  for (const { name, size, fields } of records) {
    both(
      `/** Size of a record, and where its fields are, bytes. Numbers are little endian, addresses in network order. */`,
    );
    both(`export const ${camelCase(name)} = Object.freeze({`, `export declare const ${camelCase(name)}: {`);
    both(`  size: ${size},`, `  readonly size: ${size};`);
    for (const field of fields) {
      both(`  /** ${field.doc} */`);
      const key = camelCase(field.name);
      both(`  ${key}: ${field.offset},`, `  readonly ${key}: ${field.offset};`);
    }
    both('});', '};');
    both('');
  }
  for (const { name, codes: named } of codes) {
    both(`export const ${camelCase(name)} = Object.freeze({`, `export declare const ${camelCase(name)}: {`);
    for (const [text, code] of named) {
      both(`  ${propertyName(text)}: ${code},`, `  readonly ${propertyName(text)}: ${code};`);
    }
    both('});', '};');
    both('');
  }
  for (const [name, value, doc] of constants) {
    both(`/** ${doc} */`);
    both(`export const ${name} = ${value};`, `export declare const ${name}: ${value};`);
  }
  return [values, types].map((lines) => `${lines.join('\n')}\n`);
}

const [recordValues, recordTypes] = recordModules(JSON.parse(printed('records')));

let stale = false;
for (const [file, text] of [
  ['generated/agent.schema.json', schemaText],
  ['generated/agent.d.ts', types],
  ['generated/records.js', recordValues],
  ['generated/records.d.ts', recordTypes],
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
