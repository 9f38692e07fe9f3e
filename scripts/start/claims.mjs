// @ts-check
/**
 * Interfaces that a killed agent had claimed. The agent keeps a record of what each was like in
 * `DIR/agent/claims/`; an agent that is started gives back what is on record and not claimed again.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { namedNetnsOf, netnsPath } from '../netns.mjs';
import { endProcesses, identify, until } from '../process.mjs';
import { removeIfPossible } from './paths.mjs';

/** Time for an agent to start and give back, ms; one that cannot ends sooner by itself. */
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

/** Forgets the records of interfaces that are gone with their namespace. @param {string} dataDir */
export const forgetClaims = (dataDir) => removeIfPossible(claimsDir(dataDir));

/**
 * Releases what a killed agent had claimed, by an agent without ports.
 * @param {{ dataDir: string, netns: string }} instance
 * @param {readonly string[]} agentArgv command line of an agent that claims nothing
 */
export async function releaseClaims({ dataDir, netns }, agentArgv) {
  if (recorded(dataDir).length === 0) return;
  const enter = netns === currentNetns() ? [] : enterByIdentity(netns);
  if (enter === undefined) {
    // The namespace has gone, and its interfaces with it.
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
