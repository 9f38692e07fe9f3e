// @ts-check
/**
 * Interfaces that a killed agent had claimed. The agent records the former state of each in `DIR/agent/claims/`; a
 * started agent releases the recorded interfaces that it does not claim again.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { namedNetnsOf, netnsPath } from '../netns.mjs';
import { endProcesses, identify, until } from '../process.mjs';
import { removeIfPossible } from './paths.mjs';

/** Time limit for an agent to start and release interfaces, ms; if it cannot, it terminates earlier. */
const RELEASE_MS = 30_000;

const claimsDir = (/** @type {string} */ dataDir) => path.join(dataDir, 'agent', 'claims');

/** Identity of the network namespace that this process runs in, e.g. `net:[4026531840]`. */
export const currentNetns = () => readlinkSync('/proc/self/ns/net');

/** @param {string} dataDir */
function recorded(dataDir) {
  try {
    return readdirSync(claimsDir(dataDir));
  } catch {
    return [];
  }
}

/** Removes the records of interfaces that no longer exist, as their namespace was removed. @param {string} dataDir */
export const forgetClaims = (dataDir) => removeIfPossible(claimsDir(dataDir));

/**
 * Releases the interfaces that a killed agent had claimed, by starting an agent without ports.
 * @param {{ dataDir: string, netns: string }} instance
 * @param {readonly string[]} agentArgv command line of an agent that claims no interface
 */
export async function releaseClaims({ dataDir, netns }, agentArgv) {
  if (recorded(dataDir).length === 0) return;
  const enter = netns === currentNetns() ? [] : enterByIdentity(netns);
  if (enter === undefined) {
    // The namespace was removed together with its interfaces.
    forgetClaims(dataDir);
    return;
  }
  const [program = '', ...args] = [...enter, ...agentArgv];
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = new Promise((resolve) => child.on('close', resolve));
  const done = await until(() => recorded(dataDir).length === 0 || child.exitCode !== null, RELEASE_MS);
  const agent = child.pid === undefined ? undefined : identify(child.pid);
  if (agent !== undefined) await endProcesses([agent], 5000);
  await ended;
  if (!done || recorded(dataDir).length > 0) {
    console.error(`not everything that a killed run had claimed could be given back: see ${claimsDir(dataDir)}`);
  }
}

/** @param {string} netns @returns {string[] | undefined} */
function enterByIdentity(netns) {
  const name = namedNetnsOf(netns);
  return name === undefined ? undefined : ['nsenter', `--net=${netnsPath(name)}`, '--'];
}
