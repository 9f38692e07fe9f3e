// @ts-check
/** Installs missing programs that are needed to build and run Tollway, and prints what they are needed for. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { findProgram, run, runLong } from './process.mjs';
import { inProject, UserError } from './project.mjs';

/** @typedef {{ program: string, package: string, why: string }} Need */

/** @type {Need[]} */
export const buildNeeds = [{ program: 'cc', package: 'build-essential', why: 'links the agent' }];

/** @type {Need[]} */
export const routerNeeds = [
  { program: 'ip', package: 'iproute2', why: 'network namespaces and links' },
  { program: 'nft', package: 'nftables', why: 'keeps the kernel off claimed ports' },
  { program: 'ethtool', package: 'ethtool', why: 'offloads of claimed ports' },
  { program: 'nsenter', package: 'util-linux', why: 'runs the agent beside its ports' },
  { program: 'sysctl', package: 'procps', why: 'settings of namespaces' },
];

/** @type {Need[]} */
export const labNeeds = [
  { program: 'ping', package: 'iputils-ping', why: 'traffic in the lab' },
  { program: 'iperf3', package: 'iperf3', why: 'traffic in the lab' },
  { program: 'curl', package: 'curl', why: 'to try things in the lab' },
  { program: 'traceroute', package: 'traceroute', why: 'to try things in the lab' },
  { program: 'tcpdump', package: 'tcpdump', why: 'to watch packets in the lab' },
];

/** @type {Need[]} */
export const testNeeds = [
  {
    program: 'chromium-headless-shell',
    package: 'chromium-headless-shell',
    why: 'the browser of the end-to-end tests',
  },
  { program: 'dnsmasq', package: 'dnsmasq-base', why: 'a DHCP server in the router namespace' },
  { program: 'udhcpc', package: 'udhcpc', why: 'a DHCP client of the lab' },
  { program: 'rdisc6', package: 'ndisc6', why: 'asks for router advertisements' },
  { program: 'tracepath', package: 'iputils-tracepath', why: 'the path MTU of IPv6' },
  { program: '../lib/frr/ospfd', package: 'frr', why: 'OSPF in the router namespace' },
];

/** @type {Need[]} */
export const browserNeeds = [
  { program: 'chromium', package: 'chromium', why: 'the browser whose frames are measured' },
];

/** @type {Need[]} */
export const instructionNeeds = [{ program: 'valgrind', package: 'valgrind', why: 'counts instructions' }];

/** @throws UserError */
export function ensureNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new UserError(`Tollway needs Node.js 20.19 or newer; this is ${process.versions.node} (${process.execPath})`);
}

/**
 * Installs the Debian packages of programs that are missing.
 * @param {readonly Need[]} needs
 */
export async function ensurePrograms(needs) {
  const missing = needs.filter((need) => findProgram(need.program) === undefined);
  if (missing.length === 0) return;
  const packages = [...new Set(missing.map((need) => need.package))];
  const reasons = missing.map((need) => `${need.package} (${need.why})`).join(', ');
  if (findProgram('apt-get') === undefined || process.getuid?.() !== 0) {
    throw new UserError(`missing: ${reasons}. As root: apt-get install ${packages.join(' ')}`);
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await runLong('reading the list of Debian packages', 'apt-get', ['update', '-q'], { env });
  const install = ['install', '-q', '-y', '--no-install-recommends', ...packages];
  const allowServices = forbidServices();
  try {
    await runLong(`installing from Debian: ${reasons}`, 'apt-get', install, { env });
  } finally {
    allowServices();
  }
}

/** Program that Debian's packages run before they start a service (policy-rc.d of init-system-helpers). */
const POLICY = '/usr/sbin/policy-rc.d';

/**
 * Prevents packages from starting services during installation: only the programs are needed. An existing policy is
 * kept.
 * @returns {() => void} removes the policy
 */
function forbidServices() {
  try {
    writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { flag: 'wx', mode: 0o755 });
  } catch {
    return () => {};
  }
  return () => rmSync(POLICY, { force: true });
}

/** Oldest Rust that the agent's crates accept, `rust-version` of its Cargo.toml. */
const OLDEST_RUST = [1, 88];

/** @returns {string} folder of cargo, for PATH. @throws UserError */
export function ensureRust() {
  const advice = 'install Rust stable with rustup (https://rustup.rs), then run this again';
  const cargo = findProgram('cargo') ?? cargoInHome();
  if (cargo === undefined) throw new UserError(`Rust is missing, the agent is built with it: ${advice}`);
  const version = /cargo (\d+)\.(\d+)/.exec(run(cargo, ['--version']).stdout);
  const [major = 0, minor = 0] = [Number(version?.[1]), Number(version?.[2])];
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_RUST;
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
    throw new UserError(`${cargo} is version ${version?.[0]}; the agent needs ${OLDEST_RUST.join('.')}: ${advice}`);
  }
  return path.dirname(cargo);
}

function cargoInHome() {
  const home = path.join(process.env.CARGO_HOME ?? path.join(os.homedir(), '.cargo'), 'bin', 'cargo');
  return run(home, ['--version'], { allowFailure: true }).code === 0 ? home : undefined;
}

/** Environment that keeps npm packages from downloading unnecessary binaries. */
export const quietInstallEnv = {
  ...process.env,
  // Prisma's runtime needs no engine; `generate` only checks that this file is executable.
  PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true',
  CHECKPOINT_DISABLE: '1',
  // The tests use the system's Chromium.
  PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1',
};

/** Runs `npm ci` when node_modules is missing or does not match the lock file. */
export async function ensureNodeModules() {
  if (nodeModulesMatchLock()) return;
  await runLong('installing npm packages (npm ci, about a minute)', 'npm', ['ci', '--loglevel=error'], {
    cwd: inProject(),
    env: quietInstallEnv,
  });
}

/**
 * Whether node_modules matches the lock file. npm records installed packages in node_modules/.package-lock.json,
 * without optional packages of other systems.
 */
function nodeModulesMatchLock() {
  try {
    const wanted = JSON.parse(readFileSync(inProject('package-lock.json'), 'utf8')).packages;
    const present = JSON.parse(readFileSync(inProject('node_modules', '.package-lock.json'), 'utf8')).packages;
    return Object.entries(wanted).every(([name, entry]) => {
      if (name === '') return true;
      const installed = present[name];
      if (installed === undefined) return entry.optional === true || !name.includes('node_modules/');
      return installed.version === entry.version && installed.integrity === entry.integrity;
    });
  } catch {
    return false;
  }
}
