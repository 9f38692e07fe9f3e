// @ts-check
/** Reasons that prevent the start of a router, checked before anything is terminated or created. */
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { isRunning, run, until } from '../process.mjs';
import { UserError } from '../project.mjs';
import { currentNetns } from './claims.mjs';
import { isSameFolder } from './paths.mjs';
import { instances, isForwarding, isManaged, recordedPorts } from './registry.mjs';
import { agentCommand, apiEnv, restoreCommand, urlOf } from './services.mjs';

/** Refuses a second run on a data folder, as both would share a database and a socket. */
export async function refuseSecondRun(/** @type {string} */ dataDir) {
  const other = instances().find((instance) => isSameFolder(instance.dataDir, dataDir));
  if (other === undefined) return;
  // A run whose npm was killed detects this within a second and removes itself.
  if (await until(() => !isRunning(other.supervisor), 4000)) return;
  throw new UserError(
    `Tollway already runs with this data folder (pid ${other.supervisor.pid}, ${urlOf(other.listen)}).\n` +
      'Stop it, or choose another: npm start -- --data-dir DIR --listen ADDR:PORT',
  );
}

/**
 * Performs all checks that are possible before leftovers of killed runs are terminated.
 * @throws UserError
 * @param {import('./options.mjs').StartOptions} options
 */
export async function checkBeforeStart(options) {
  const { dataDir, listen, restore } = options;
  const here = instances().filter((each) => each.listen === listen && each.netns === currentNetns());
  // A run that has just started may not listen yet.
  const other = here.find(
    (each) => !isSameFolder(each.dataDir, dataDir) && (isRunning(each.supervisor) || isForwarding(each)),
  );
  if (other !== undefined) {
    throw new UserError(
      `cannot listen on ${listen}: Tollway with the data folder ${other.dataDir} does. Choose another address: --listen ADDR:PORT`,
    );
  }
  // Runs found here are terminated; another program that listens on the address of a terminated API is not.
  if (!here.some(isManaged)) await requireFreeAddress(listen);
  if (options.ports === undefined) refuseWithoutPorts(dataDir);
  else refusePorts(options, options.ports);
  if (restore !== undefined) runShort([...restoreCommand(restore), '--check'], apiEnv(options));
}

/**
 * Refuses a start without ports, if it would terminate a router that forwards between interfaces. @param {string}
 * dataDir
 */
function refuseWithoutPorts(dataDir) {
  const own = instances().find((each) => isSameFolder(each.dataDir, dataDir));
  if (own === undefined || own.lab !== null || own.ports.length === 0 || !isForwarding(own)) return;
  const names = own.ports.join(',');
  throw new UserError(
    `the router of ${dataDir} forwards between ${names}, though nothing starts its agent again: start it anew with --ports ${names}, or to end it, stop it then`,
    2,
  );
}

/** @param {import('./options.mjs').StartOptions} options @param {string[]} ports */
function refusePorts(options, ports) {
  const others = instances().filter((each) => !isSameFolder(each.dataDir, options.dataDir));
  const folders = [options.dataDir];
  for (const other of others) {
    const taken =
      other.netns === currentNetns() && other.lab === null ? ports.filter((name) => other.ports.includes(name)) : [];
    if (taken.length === 0) continue;
    // The records of a killed run are read before its interfaces are released.
    if (!isRunning(other.supervisor) && !isForwarding(other)) {
      folders.push(other.dataDir);
      continue;
    }
    // Two agents would both forward received packets.
    const stop = isRunning(other.supervisor) ? 'stop that one' : 'start and stop that one';
    throw new UserError(
      `--ports: Tollway with the data folder ${other.dataDir} has claimed ${taken.join(', ')}; to have it given back, ${stop}`,
      2,
    );
  }
  for (const dataDir of folders) {
    const agent = { dataDir, routerNetns: 'tollway', ports, lab: null };
    runShort([...agentCommand(agent, options), '--check'], process.env);
  }
}

/**
 * Runs a short command whose error message is passed on to the user.
 * @param {readonly string[]} argv
 * @param {NodeJS.ProcessEnv} env
 * @returns {string} its output
 */
export function runShort([program = '', ...args], env) {
  const { status, stdout, stderr } = spawnSync(program, args, { env, encoding: 'utf8' });
  if (status !== 0) throw new UserError(stderr.trim() || `${program} ${args.join(' ')} failed`, status === 2 ? 2 : 1);
  return stdout.trim();
}

/** @param {string} listen */
export async function requireFreeAddress(listen) {
  const { hostname, port } = new URL(`http://${listen}`);
  const host = hostname.replace(/^\[|\]$/g, '');
  await /** @type {Promise<void>} */ (
    new Promise((resolve, reject) => {
      const probe = createServer();
      probe.on('error', (error) => {
        const why = 'code' in error && error.code === 'EADDRINUSE' ? 'something else listens there' : error.message;
        reject(new UserError(`cannot listen on ${listen}: ${why}. Choose another address: --listen ADDR:PORT`));
      });
      probe.listen(Number(port || 80), host, () => probe.close(() => resolve()));
    })
  );
}

/**
 * Ports whose interface is not here now; the agent goes on without one, as when it vanishes.
 * @param {readonly string[]} names
 * @param {string} dataDir
 * @throws UserError (exit code 2) for one that this router has not had yet
 */
export function absentInterfaces(names, dataDir) {
  /** @type {{ ifname: string }[]} */
  const links = JSON.parse(run('ip', ['-json', 'link', 'show']).stdout);
  const present = links.map((link) => link.ifname).filter((name) => name !== 'lo');
  const absent = names.filter((name) => !present.includes(name));
  const before = recordedPorts(dataDir);
  const unknown = absent.filter((name) => !before.includes(name));
  if (unknown.length > 0) {
    throw new UserError(
      `--ports: there is no interface ${unknown.join(', ')} here; there are: ${present.join(', ')}`,
      2,
    );
  }
  for (const name of absent) {
    console.error(
      `• there is no interface ${name} here now (there are: ${present.join(', ')}): it is used when it comes`,
    );
  }
  return absent;
}
