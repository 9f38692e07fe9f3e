// @ts-check
/**
 * What the crates of the agent may depend on: permissive licences, crates.io alone, no wildcard versions. cargo-deny checks the
 * same, but a fresh machine would have to compile it first, which takes longer than most tests.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import satisfies from 'spdx-satisfies';
import { agentDir, UserError } from './project.mjs';

/** Permissive licences that go with Apache-2.0, by their SPDX identifiers. */
const LICENCES = ['Apache-2.0', 'BSD-3-Clause', 'MIT', 'Unicode-3.0'];
/** Registry of all dependencies, as cargo-metadata(1) names it. */
const CRATES_IO = 'registry+https://github.com/rust-lang/crates.io-index';
/** Platforms that the agent is built for. */
const PLATFORMS = ['x86_64-unknown-linux-gnu', 'aarch64-unknown-linux-gnu'];

/**
 * @typedef {object} CargoPackage a package in the output of `cargo metadata`
 * @property {string} id
 * @property {string} name
 * @property {string} version
 * @property {string | null} license SPDX expression; old packages have `/` for `OR`
 * @property {string | null} source `null`: a path
 * @property {readonly { name: string, req: string, path?: string }[]} dependencies
 */

/** @param {CargoPackage} crate @returns {string[]} violations, each a sentence */
export function violationsOf({ name, version, license, source, dependencies }) {
  const crate = `${name} ${version}`;
  const found = [];
  if (!isPermitted(license))
    found.push(`${crate}: licence ${license ?? 'unknown'} is not among ${LICENCES.join(', ')}`);
  if (source !== null && source !== CRATES_IO) found.push(`${crate}: comes from ${source}, not from crates.io`);
  if (source === null) {
    for (const { name: needed, req, path } of dependencies) {
      if (req === '*' && path === undefined) found.push(`${crate}: depends on any version of ${needed}`);
    }
  }
  return found;
}

/** @param {string | null} license */
function isPermitted(license) {
  if (license === null) return false;
  try {
    return satisfies(license.replaceAll('/', ' OR '), LICENCES);
  } catch {
    // No SPDX expression.
    return false;
  }
}

/**
 * Checks all crates that the agent is built from, on every platform; those of tests and build scripts too.
 * @param {NodeJS.WritableStream} out
 * @throws UserError naming each violation
 */
export async function checkCrates(out) {
  const platforms = PLATFORMS.flatMap((platform) => ['--filter-platform', platform]);
  const args = ['metadata', '--locked', '--format-version', '1', ...platforms];
  const { stdout } = await promisify(execFile)('cargo', args, { cwd: agentDir, maxBuffer: 1 << 28 });
  /** @type {{ packages: CargoPackage[], resolve: { nodes: { id: string }[] } }} */
  const { packages, resolve } = JSON.parse(stdout);
  const used = new Set(resolve.nodes.map(({ id }) => id));
  const crates = packages.filter(({ id }) => used.has(id));
  const violations = crates.flatMap(violationsOf);
  if (violations.length > 0) throw new UserError(violations.join('\n'));
  out.write(`${crates.length} crates: licences, sources and versions are as allowed\n`);
}
