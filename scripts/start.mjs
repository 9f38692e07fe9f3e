// @ts-check
/** `npm start`: installs and builds what is missing, creates the lab, and runs and supervises agent and API. */
import path from 'node:path';
import { build } from './build.mjs';
import { ensureNode, ensurePrograms, labNeeds, routerNeeds } from './install.mjs';
import { createLab, removeLab } from './lab/create.mjs';
import { labOf } from './lab/topology.mjs';
import { trafficOf } from './lab/traffic.mjs';
import { endProcesses, identify, until } from './process.mjs';
import { main, UserError } from './project.mjs';
import { notUp, unmanaged, watchManagement, welcome } from './start/announcements.mjs';
import { currentNetns } from './start/claims.mjs';
import { prepareDataDir, sameFolder } from './start/data-folder.mjs';
import { parseOptions, usage } from './start/options.mjs';
import {
  absentInterfaces,
  checkBeforeStart,
  refuseSecondRun,
  requireFreeAddress,
  runShort,
} from './start/refusals.mjs';
import {
  freeRouterNetns,
  recordPorts,
  register,
  releaseClaimsOf,
  removeInstance,
  removeLeftovers,
  withLock,
} from './start/registry.mjs';
import { agentCommand, apiCommand, apiEnv, health, isSetUp, restoreCommand, urlOf } from './start/services.mjs';
import { stopRequest } from './start/stop-request.mjs';
import { Supervisor } from './start/supervisor.mjs';

/** @typedef {import('./start/registry.mjs').Instance} Instance */

const started = performance.now();

await main(async () => {
  // Child processes must not get the password in their environment, which other users could read.
  const adminPassword = process.env.TOLLWAY_ADMIN_PASSWORD ?? '';
  delete process.env.TOLLWAY_ADMIN_PASSWORD;
  const options = parseOptions(process.argv.slice(2));
  if (options.help) {
    console.log(usage);
    return 0;
  }
  ensureNode();
  if (!options.memory && process.getuid?.() !== 0) {
    throw new UserError(
      'npm start needs root: it makes network namespaces and reads packets from interfaces.\n' +
        'Without root the same engine runs on memory ports with generated traffic: npm start -- --memory',
    );
  }
  const absent = options.ports === undefined ? [] : absentInterfaces(options.ports, options.dataDir);
  prepareDataDir(options.dataDir);
  if (!options.memory) await ensurePrograms([...routerNeeds, ...(options.lab ? labNeeds : [])]);
  await build();
  // umask: files that this process and its children make from here on are private.
  process.umask(0o077);

  const stop = stopRequest();
  const instance = await withLock(async () => {
    await refuseSecondRun(options.dataDir);
    await checkBeforeStart(options);
    const claimed = await removeLeftovers(options.dataDir, options.ports);
    try {
      await requireFreeAddress(options.listen);
      restoreDatabase(options);
      return claim(options);
    } catch (error) {
      if (claimed !== undefined) await releaseClaimsOf(claimed);
      throw error;
    }
  });
  /** @type {Supervisor | undefined} */
  let supervisor;
  try {
    if (instance.lab !== null) {
      await removeLab(instance.lab);
      createLab(instance.lab);
    }
    const noted = () => {
      instance.processes = supervisor?.running ?? [];
      register(instance);
    };
    supervisor = new Supervisor(path.join(options.dataDir, 'log'), noted, sameFolder(options.dataDir));
    const failure = await superviseUntil(stop, supervisor, instance, options, adminPassword, absent);
    if (failure !== undefined) throw failure;
    console.log(`• stopping (${await stop})`);
    return 0;
  } finally {
    supervisor?.stop();
    await endProcesses(supervisor?.running.filter((each) => each.name === 'api') ?? [], 3000);
    await removeInstance(instance);
  }
});

/**
 * Starts the processes, says how to log in, and waits for the request to stop.
 * @param {Promise<string>} stop
 * @param {Supervisor} supervisor
 * @param {Instance} instance
 * @param {import('./start/options.mjs').StartOptions} options
 * @param {string} adminPassword first password of admin; may be empty
 * @param {readonly string[]} absent ports whose interface is not here
 * @returns {Promise<UserError | undefined>} why it cannot run, or undefined when it was asked to stop
 */
async function superviseUntil(stop, supervisor, instance, options, adminPassword, absent) {
  const url = urlOf(options.listen);
  let up = false;
  /** @type {(failure: UserError) => void} */
  let fail = () => {};
  /** @type {Promise<UserError>} */
  const failed = new Promise((resolve) => {
    fail = resolve;
  });
  /** @param {string} name @returns {NonNullable<import('./start/supervisor.mjs').Service['onExit']>} */
  const giveUpBeforeUp = (name) => (code, tail) => {
    // Before everything is up, the end of a process stops the start, e.g. when an interface cannot be claimed; later
    // the process is restarted.
    if (up) return true;
    fail(new UserError(tail || `${name} ended with exit code ${code}`, code === 2 ? 2 : 1));
    return false;
  };
  supervisor.start({
    name: 'agent',
    argv: agentCommand(instance, options),
    onExit: giveUpBeforeUp('the agent'),
  });
  supervisor.start({
    name: 'api',
    argv: apiCommand(),
    env: apiEnv(options),
    input: adminPassword,
    onExit: giveUpBeforeUp('the API'),
  });

  let decided = false;
  const answers = async () => {
    const { healthy, problem } = await health(url);
    return healthy || problem !== undefined;
  };
  const ready = until(async () => decided || (await answers()), 30_000, 50);
  const first = await Promise.race([ready, failed, stop]);
  decided = true;
  if (first instanceof UserError) return first;
  if (typeof first === 'string') return undefined;
  const state = await health(url);
  if (!first && !isSetUp(options.dataDir)) return notUp(supervisor, state);
  up = true;
  if (instance.lab === null) recordPorts(instance);

  if (instance.lab !== null) {
    for (const service of trafficOf(instance.lab)) supervisor.start({ ...service, quiet: true });
  }
  // An agent with a configuration forwards, whatever the state of the management.
  if (!first) console.error(`• ${notUp(supervisor, state).message}\n  The agent keeps running; stop with Ctrl-C.`);
  // The agent may be about to start.
  else if (state.problem !== undefined)
    console.error(unmanaged(state, state.forwarding || isSetUp(options.dataDir), url));
  else welcome(url, instance, options, absent, started);
  const watching = watchManagement(url, state, options.dataDir);
  await stop;
  clearInterval(watching);
  return undefined;
}

/** @param {import('./start/options.mjs').StartOptions} options */
function restoreDatabase(options) {
  if (options.restore === undefined) return;
  console.log(`• ${runShort(restoreCommand(options.restore), apiEnv(options))}`);
}

/**
 * Registers this run. From then on everything that it creates is removed when it ends, or by the next start that finds
 * its agent terminated or has the same data folder.
 * @param {import('./start/options.mjs').StartOptions} options
 * @returns {Instance}
 */
function claim(options) {
  const supervisor = identify(process.pid);
  if (supervisor === undefined) throw new Error('/proc does not show this process');
  const routerNetns = options.memory ? null : freeRouterNetns(options.dataDir);
  const lab = options.lab && routerNetns !== null ? labOf(routerNetns) : null;
  /** @type {Instance} */
  const instance = {
    dataDir: options.dataDir,
    listen: options.listen,
    supervisor,
    netns: currentNetns(),
    routerNetns,
    ports: lab?.ports ?? options.ports ?? [],
    lab,
    processes: [],
  };
  register(instance);
  return instance;
}
