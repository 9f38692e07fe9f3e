// @ts-check
/**
 * Register of the instances on this machine, and of what they made: written before anything is made, so that the
 * next start can take away what an instance that was killed left behind.
 */
import { existsSync, linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { removeLab } from '../lab/create.mjs';
import { deleteNetns, namedNetns, netnsExists } from '../netns.mjs';
import { commandLine, endProcesses, identify, isRunning, killProcesses, messageOf, until } from '../process.mjs';
import { makeFolder, UserError } from '../project.mjs';
import { currentNetns, forgetClaims, releaseClaims } from './claims.mjs';
import { instanceHash } from './options.mjs';
import { isSameFolder, registerFault, registryDir, removeIfPossible, runDir, socketOf } from './paths.mjs';
import { agentCommand } from './services.mjs';

/**
 * @typedef {import('../process.mjs').Identity} Identity
 * @typedef {import('../lab/topology.mjs').Lab} Lab
 * @typedef {{
 *   dataDir: string,
 *   listen: string,
 *   supervisor: Identity,
 *   netns: string,
 *   routerNetns: string | null,
 *   ports: string[],
 *   lab: Lab | null,
 *   processes: (Identity & { name: string })[],
 * }} Instance
 */

const entryFile = (/** @type {string} */ dataDir) => path.join(registryDir, `${instanceHash(dataDir)}.json`);

/** Time limit for the agent to release its ports, ms. */
const AGENT_GRACE_MS = 5000;
/** Time limit for the API to store its counters, ms. */
const API_GRACE_MS = 3000;

/** The last reported problem, so that it is not printed repeatedly. */
let lastComplaint = '';

/** @returns {Instance[]} every registered instance, running or dead */
export function instances() {
  try {
    if (registerFault(registryDir) !== undefined) return [];
    return readdirSync(registryDir)
      .filter((name) => name.endsWith('.json'))
      .flatMap((name) => {
        try {
          return [JSON.parse(readFileSync(path.join(registryDir, name), 'utf8'))];
        } catch {
          return [];
        }
      });
  } catch {
    return [];
  }
}

/** @returns {Instance[]} */
export const runningInstances = () => instances().filter((instance) => isRunning(instance.supervisor));

/**
 * Writes the entry of an instance, atomically: a reader sees the old one or the new one.
 * @param {Instance} instance
 */
export function register(instance) {
  const text = `${JSON.stringify(instance, null, 2)}\n`;
  /** @type {unknown} */
  let problem;
  for (const file of [entryFile(instance.dataDir), path.join(runDir(instance.dataDir), 'instance.json')]) {
    try {
      // If the data folder was moved away, no new one is created in its place, so that it can be moved back.
      if (!existsSync(instance.dataDir)) break;
      makeFolder(path.dirname(file), 0o700);
      writeFileSync(`${file}.new`, text);
      renameSync(`${file}.new`, file);
    } catch (error) {
      problem = error;
      removeIfPossible(`${file}.new`);
    }
  }
  if (problem === undefined) return;
  // A full disk must not end the supervision of agent and API.
  const complaint = `cannot note which processes run: ${messageOf(problem)}`;
  if (complaint !== lastComplaint) console.error(complaint);
  lastComplaint = complaint;
}

/** @param {Instance} instance */
function unregister(instance) {
  for (const name of ['instance.json', 'agent.pid', 'api.pid', 'setup-token']) {
    removeIfPossible(path.join(runDir(instance.dataDir), name));
  }
  removeIfPossible(socketOf(instance.dataDir));
  removeIfPossible(entryFile(instance.dataDir));
}

/**
 * Runs `body` while no other start chooses names or removes leftovers.
 * @template T
 * @param {() => Promise<T>} body
 * @param {string} [folder] folder of the register
 * @returns {Promise<T>}
 */
export async function withLock(body, folder = registryDir) {
  makeFolder(folder, 0o700);
  const wrong = registerFault(folder);
  if (wrong !== undefined) {
    throw new UserError(
      `${folder}, where it is noted which routers run, ${wrong}: remove it, or set TMPDIR to a folder of your own`,
    );
  }
  const file = path.join(folder, 'lock');
  // Written before it is renamed, so that an existing lock always names its holder.
  const mine = `${file}.${process.pid}`;
  try {
    writeFileSync(mine, JSON.stringify(identify(process.pid)));
  } catch (error) {
    removeIfPossible(mine);
    throw new UserError(`${mine} cannot be written: ${messageOf(error)}`);
  }
  const patient = setTimeout(() => console.log(`• waiting for another start, which holds ${file}`), 2000);
  const taken = await until(() => {
    try {
      linkSync(mine, file);
      return true;
    } catch {
      if (!lockIsHeld(file)) rmSync(file, { force: true });
      return false;
    }
  }, 60_000);
  clearTimeout(patient);
  removeIfPossible(mine);
  if (!taken) throw new UserError(`another start has held ${file} for a minute`);
  try {
    return await body();
  } finally {
    rmSync(file, { force: true });
  }
}

/** @param {string} file */
function lockIsHeld(file) {
  try {
    return isRunning(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return false;
  }
}

/**
 * Takes away what killed instances left: processes, namespaces with their links, registry entries. A router whose agent goes on
 * forwarding stays, but for the one of this data folder, which is started anew.
 * @param {string} dataDir
 * @param {readonly string[] | undefined} ports interfaces that this start claims
 * @returns {Promise<Instance | undefined>} the one whose interfaces have not been given back, as this start claims them
 */
export async function removeLeftovers(dataDir, ports) {
  /** @type {Instance | undefined} */
  let claimed;
  for (const instance of instances()) {
    if (isRunning(instance.supervisor)) continue;
    const isOwn = isSameFolder(instance.dataDir, dataDir);
    if (!isOwn && isForwarding(instance)) {
      console.log(
        `• the router of ${instance.dataDir} forwards, though nothing starts its agent again: start it anew, or to end it, start and stop it`,
      );
      continue;
    }
    const had = instance.lab === null ? instance.ports : [];
    const again = isOwn && instance.netns === currentNetns() ? had.filter((port) => ports?.includes(port)) : [];
    const given = had.filter((port) => !again.includes(port)).join(', ');
    console.log(
      `• removing what a killed run left (${instance.dataDir})${given && `; the kernel gets back what it had claimed: ${given}`}`,
    );
    if (again.length > 0) {
      await removeAllButClaims(instance);
      claimed = instance;
    } else {
      await removeInstance(instance);
    }
  }
  return claimed;
}

/** Whether the agent of an instance that has a data folder runs. @param {Instance} instance */
export const isForwarding = (instance) =>
  existsSync(instance.dataDir) && processesOf(instance).some((each) => each.name === 'agent' && isRunning(each));

/** Whether the API of an instance runs. @param {Instance} instance */
export const isManaged = (instance) => processesOf(instance).some((each) => each.name === 'api' && isRunning(each));

/** Interfaces that the router of a data folder has had as its ports, one a line. @param {string} dataDir */
const portsFile = (dataDir) => path.join(dataDir, 'agent', 'ports');

/** @param {string} dataDir */
export function recordedPorts(dataDir) {
  try {
    return readFileSync(portsFile(dataDir), 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

/** Records which interfaces a router has as its ports: it may be started again while one of them is not there. @param {Instance} instance */
export function recordPorts({ dataDir, ports }) {
  const before = recordedPorts(dataDir);
  const all = new Set([...before, ...ports]);
  if (all.size === before.length) return;
  const file = portsFile(dataDir);
  try {
    writeFileSync(`${file}.new`, [...all, ''].join('\n'));
    renameSync(`${file}.new`, file);
  } catch {
    // Not possible on a full or read-only disk.
    removeIfPossible(`${file}.new`);
  }
}

/**
 * Ends an instance's processes and removes everything it made.
 * @param {Instance} instance
 */
export async function removeInstance(instance) {
  // The agent releases claimed interfaces when it is asked to terminate; other processes have nothing to release.
  await endProcesses(processesOf(instance), AGENT_GRACE_MS);
  if (instance.lab !== null) {
    await removeLab(instance.lab);
    forgetClaims(instance.dataDir);
  } else if (instance.ports.length > 0) {
    await releaseClaimsOf(instance);
  }
  if (instance.routerNetns !== null) await deleteRouterNetns(instance.routerNetns);
  unregister(instance);
}

/** Releases the interfaces that a terminated agent of an instance had claimed. @param {Instance} instance */
export const releaseClaimsOf = (instance) => releaseClaims(instance, agentCommand({ ...instance, ports: [] }));

/**
 * Removes an instance as {@link removeInstance} does, but what keeps the kernel from claimed interfaces stays: an agent that
 * claims them takes over its predecessor's records. In between the kernel, which may have addresses and routes for them, would
 * forward what no rule lets pass.
 * @param {Instance} instance
 */
async function removeAllButClaims(instance) {
  const all = processesOf(instance);
  await endProcesses(
    all.filter(({ name }) => name !== 'agent'),
    API_GRACE_MS,
  );
  await killProcesses(all);
  if (instance.routerNetns !== null) await deleteRouterNetns(instance.routerNetns);
  unregister(instance);
}

/** Removes the namespace of a router and those of its VRFs. @param {string} name of the router's */
async function deleteRouterNetns(name) {
  const ofVrfs = namedNetns().filter((each) => each.startsWith(`${name}-vrf-`) || each.startsWith(`${name}-vrf.`));
  for (const each of [...ofVrfs, name]) await deleteNetns(each);
}

/** @param {Instance} instance @returns {Instance['processes']} */
const processesOf = ({ processes, dataDir }) => [...processes, ...pidFileProcesses(dataDir)];

/** Processes that were started but not yet registered when the supervisor was killed. */
function pidFileProcesses(/** @type {string} */ dataDir) {
  return [
    { name: 'agent', program: 'host.mjs' },
    { name: 'api', program: 'server.js' },
  ].flatMap(({ name, program }) => {
    try {
      const process = identify(Number(readFileSync(path.join(runDir(dataDir), `${name}.pid`), 'utf8').trim()));
      return process !== undefined && commandLine(process.pid).includes(program) ? [{ ...process, name }] : [];
    } catch {
      return [];
    }
  });
}

/** @param {string} dataDir @returns {string} name for the router's namespace: `tollway`, or with the instance's hash when that is taken */
export function freeRouterNetns(dataDir) {
  const taken = new Set(instances().map((instance) => instance.routerNetns));
  for (const name of ['tollway', `tollway-${instanceHash(dataDir)}`]) {
    if (!taken.has(name) && !netnsExists(name)) return name;
  }
  throw new UserError(
    `the network namespaces tollway and tollway-${instanceHash(dataDir)} exist and belong to no run known here; ` +
      `remove them with: ip netns delete tollway-${instanceHash(dataDir)}`,
  );
}
