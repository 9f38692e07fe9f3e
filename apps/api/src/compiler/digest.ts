import { createHash } from 'node:crypto';
import type { DataplaneConfig } from '@tollway/dataplane-agent';

/*
 * The digest of a configuration. The agent computes it in the same way: the configuration in force is the intended one
 * when both digests are equal. The algorithm is described in the agent, in `crates/config/src/digest.rs`.
 */

const MASK = (1n << 128n) - 1n;
const BEFORE = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835n;
const AFTER = 0xc2b2_ae3d_27d4_eb4f_1656_67b1_9e37_79f9n;
/** Sentinel before the first and after the last row of a section. */
const END = 0n;

const truncatedSha256 = (text: string): bigint =>
  BigInt(`0x${createHash('sha256').update(text).digest('hex').slice(0, 32)}`);

const isPresent = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0);

function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, item]) => isPresent(item));
    members.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${members.map(([name, item]) => `"${name}":${textOf(item)}`).join(',')}}`;
  }
  return typeof value === 'bigint' ? value.toString() : JSON.stringify(value);
}

/** Cached hashes of rows; unchanged rows are the same objects. */
const hashes = new WeakMap<object, bigint>();

/** Hash of a row without the cache. */
export const contentHash = (row: unknown): bigint => truncatedSha256(textOf(row));

/**
 * Hash of a row, cached by object. Rows should be the same objects again and again: beyond 2^21 keys, including uncollected
 * ones, V8's WeakMap takes some 10 µs for a look-up and up to 100 µs for an insertion.
 */
function rowHash(row: unknown): bigint {
  if (typeof row !== 'object' || row === null) return contentHash(row);
  let hash = hashes.get(row);
  if (hash === undefined) {
    hash = contentHash(row);
    hashes.set(row, hash);
  }
  return hash;
}

function link(before: bigint, after: bigint): bigint {
  const side = (before + BEFORE) & MASK;
  return (((side * side) & MASK) * ((after + AFTER) & MASK)) & MASK;
}

/** Hash of a section that consists of rows with these hashes. */
function sectionHash(rows: readonly bigint[]): bigint {
  let sum = 0n;
  let last = END;
  for (const row of rows) {
    sum += row + link(last, row);
    last = row;
  }
  // Replaces the link of an empty section by the link from the last row to the end.
  return (sum + link(last, END) - link(END, END)) & MASK;
}

/** Digest of a configuration, 32 hexadecimal digits. @param hashOf hash of a row, {@link rowHash} or {@link contentHash} */
export function digestOf(config: DataplaneConfig, hashOf: (row: unknown) => bigint = rowHash): string {
  const {
    format,
    settings,
    tracking,
    interfaces,
    addresses,
    routes,
    'routing-tables': routingTables = [],
    'routing-rules': routingRules = [],
    neighbors,
    filter,
    nat,
    mangle = [],
    'address-lists': lists,
    'ipv6-address-lists': ipv6Lists = [],
    'ipv6-filter': ipv6Filter = [],
    'ipv6-nat': ipv6Nat = [],
    'ipv6-mangle': ipv6Mangle = [],
    'mark-names': markNames = [],
    'queue-types': queueTypes = [],
    'simple-queues': simple = [],
    'tree-queues': tree = [],
    'interface-queues': interfaceQueues = [],
    ...others
  } = config;
  // Fails to compile when a section is left out here: configurations that differ in it would have the same digest.
  others satisfies Readonly<Record<string, never>>;
  const sections: [name: string, rows: readonly unknown[]][] = [
    ['format', [format]],
    ['settings', [settings]],
    ['tracking', [tracking]],
    ['interfaces', interfaces],
    ['addresses', addresses],
    ['routes', routes],
    ['routing-tables', routingTables],
    ['routing-rules', routingRules],
    ['neighbors', neighbors],
    ...lists.map(({ name, entries }): [string, unknown[]] => [`address-lists ${name}`, entries]),
    ...ipv6Lists.map(({ name, entries }): [string, unknown[]] => [`ipv6-address-lists ${name}`, entries]),
  ];
  const ipv6 = { 'ipv6-filter': ipv6Filter, 'ipv6-nat': ipv6Nat, 'ipv6-mangle': ipv6Mangle };
  for (const [table, chains] of Object.entries({ filter, nat, mangle, ...ipv6 })) {
    for (const { name, rules } of chains) sections.push([`${table} ${name}`, rules]);
  }
  sections.push(
    ['mark-names', markNames],
    ['queue-types', queueTypes],
    ['simple-queues', simple],
    ['tree-queues', tree],
    ['interface-queues', interfaceQueues],
  );
  const line = ([name, rows]: (typeof sections)[number]) => `${name} ${hex(sectionHash(rows.map(hashOf)))}\n`;
  return hex(truncatedSha256(sections.map(line).join('')));
}

const hex = (hash: bigint): string => hash.toString(16).padStart(32, '0');
