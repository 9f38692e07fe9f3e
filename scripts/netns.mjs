// @ts-check
/** Named network namespaces (ip-netns(8)). */
import { existsSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { allPids, endProcesses, identify, run } from './process.mjs';

/** @param {string} name file that names the namespace */
export const netnsPath = (name) => `/run/netns/${name}`;

/** @param {string} name */
export const netnsExists = (name) => existsSync(netnsPath(name));

/** @param {string} name */
export function addNetns(name) {
  run('ip', ['netns', 'add', name]);
  // Nothing in the lab uses IPv6; if it were enabled, every host would send router solicitations.
  inNetns(name, ['sysctl', '-qw', 'net.ipv6.conf.all.disable_ipv6=1', 'net.ipv6.conf.default.disable_ipv6=1']);
  run('ip', ['-n', name, 'link', 'set', 'lo', 'up']);
}

/**
 * Removes a namespace with everything in it: processes first, since a namespace lives as long as one of them.
 * Removing it takes its veths, and so their peers, with it.
 * @param {string} name
 */
export async function deleteNetns(name) {
  if (!netnsExists(name)) return;
  await endProcesses(pidsInNetns(name), 500);
  run('ip', ['netns', 'delete', name], { allowFailure: true });
}

/** @param {string} name @returns {import('./process.mjs').Identity[]} processes whose network namespace it is */
function pidsInNetns(name) {
  const inode = inodeOf(name);
  if (inode === undefined) return [];
  return allPids().flatMap((pid) => {
    try {
      if (readlinkSync(`/proc/${pid}/ns/net`) !== `net:[${inode}]`) return [];
    } catch {
      return [];
    }
    const process = identify(pid);
    return process === undefined ? [] : [process];
  });
}

/**
 * @param {string} identity e.g. `net:[4026532500]` @returns {string | undefined} name of the namespace, if it has one
 */
export const namedNetnsOf = (identity) => namedNetns().find((name) => `net:[${inodeOf(name)}]` === identity);

/** @returns {string[]} names of all named namespaces */
export function namedNetns() {
  try {
    return readdirSync('/run/netns');
  } catch {
    return [];
  }
}

/** @param {string} name */
function inodeOf(name) {
  try {
    return statSync(netnsPath(name)).ino;
  } catch {
    return undefined;
  }
}

/** @param {string} name @param {readonly string[]} argv @returns {string[]} the command line that runs `argv` in it, with the same pid */
export const enterNetns = (name, argv) => ['nsenter', `--net=${netnsPath(name)}`, '--', ...argv];

/** @param {string} name @param {readonly string[]} argv */
export function inNetns(name, argv) {
  const [program, ...args] = enterNetns(name, argv);
  return run(/** @type {string} */ (program), args);
}
