// @ts-check
/** `npm start`: installs and builds what is missing, makes the lab, runs and supervises agent and API. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { build } from './build.mjs';
import { ensureNode, ensurePrograms, labNeeds, routerNeeds } from './install.mjs';
import { createLab, removeLab } from './lab/create.mjs';
import { labOf } from './lab/topology.mjs';
import { trafficOf } from './lab/traffic.mjs';
import { commandLine, endProcesses, identify, isRunning, parentOf, run, seconds, until } from './process.mjs';
import { inProject, main, UserError } from './project.mjs';
import { currentNetns } from './start/claims.mjs';
import { prepareDataDir, sameFolder } from './start/data-folder.mjs';
import { parseOptions, usage } from './start/options.mjs';
import { isSameFolder, runDir } from './start/places.mjs';
import {
  freeRouterNetns,
  giveBack,
  instances,
  isForwarding,
  isManaged,
  notePorts,
  portsBefore,
  register,
  removeInstance,
  removeLeftovers,
  withLock,
} from './start/registry.mjs';
import { agentCommand, apiCommand, apiEnv, health, isSetUp, restoreCommand, urlOf } from './start/services.mjs';
import { Supervisor } from './start/supervisor.mjs';

/** @typedef {import('./start/registry.mjs').Instance} Instance */

const started = performance.now();
/** How often management is looked at, ms. */
const LOOK_MS = 3_000;
/** An agent that ended is back before it has been found silent so often. */
const SILENT_LOOKS = 4;

await main(async () => {
  // No process that this one starts gets it in its environment, where others could read it.
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
  // What this process and those that it starts make from here on is nobody else's.
  process.umask(0o077);

  const stop = stopRequest();
  const instance = await withLock(async () => {
    await refuseSecond(options.dataDir);
    await refuseBefore(options);
    const claimed = await removeLeftovers(options.dataDir, options.ports);
    try {
      await requireFreeAddress(options.listen);
      restoreDatabase(options);
      return claim(options);
    } catch (error) {
      if (claimed !== undefined) await giveBack(claimed);
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
    // Before everything is up an end is a reason to stop, e.g. an interface that cannot be claimed; later it is an accident.
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
  if (instance.lab === null) notePorts(instance);

  if (instance.lab !== null) {
    for (const service of trafficOf(instance.lab)) supervisor.start({ ...service, quiet: true });
  }
  // An agent that has a configuration forwards by it, however management is.
  if (!first) console.error(`• ${notUp(supervisor, state).message}\n  The agent keeps running; stop with Ctrl-C.`);
  // The agent may just be about to begin.
  else if (state.problem !== undefined)
    console.error(unmanaged(state, state.forwarding || isSetUp(options.dataDir), url));
  else welcome(url, instance, options, absent);
  const watching = watchManagement(url, state, options.dataDir);
  await stop;
  clearInterval(watching);
  return undefined;
}

/** @param {{ problem?: string }} state @param {boolean} forwards @param {string} url */
function unmanaged({ problem }, forwards, url) {
  const meanwhile = forwards ? 'The router forwards by its last configuration' : 'Nothing is forwarded now';
  return `• ${problem}\n  ${meanwhile}; ${url} says what is wrong until that is mended. Stop with Ctrl-C.`;
}

/**
 * Says on the terminal when management can no longer work, and when it can again.
 * @param {string} url
 * @param {{ problem?: string }} said what has been said already
 * @param {string} dataDir
 */
function watchManagement(url, said, dataDir) {
  let told = said.problem;
  let forwarded = true;
  let silent = 0;
  return setInterval(async () => {
    const state = await health(url);
    const { listening, healthy, forwarding } = state;
    silent = state.silent === undefined ? 0 : silent + 1;
    const problem = state.problem ?? (silent < SILENT_LOOKS ? undefined : state.silent);
    // What is over may have left another trouble behind.
    if (!listening || (problem === undefined && (told === undefined || !healthy))) return;
    if (problem === told && (problem === undefined || forwarding === forwarded)) return;
    if (problem === undefined) console.error(`• management works again: ${url}`);
    else console.error(state.problem === undefined ? `• ${problem}` : unmanaged(state, forwarding, url));
    const link = problem === undefined ? setupLink(url, dataDir) : undefined;
    if (link !== undefined) console.log(link);
    [told, forwarded] = [problem, forwarding];
  }, LOOK_MS);
}

/** @param {import('./start/options.mjs').StartOptions} options */
function restoreDatabase(options) {
  if (options.restore === undefined) return;
  console.log(`• ${runShort(restoreCommand(options.restore), apiEnv(options))}`);
}

/** @param {Supervisor} supervisor @param {{ listening: boolean }} state */
function notUp(supervisor, state) {
  const who = state.listening ? 'the agent does not forward' : 'the API does not answer';
  return new UserError(`after 30 s ${who}; see ${supervisor.logFile('agent')} and ${supervisor.logFile('api')}`);
}

/** The line with the link that sets the first password; undefined when there is one. @param {string} url @param {string} dataDir */
function setupLink(url, dataDir) {
  const tokenFile = path.join(runDir(dataDir), 'setup-token');
  if (!existsSync(tokenFile)) return undefined;
  return `  Set the first password of admin: ${url}/#setup=${readFileSync(tokenFile, 'utf8').trim()}`;
}

/** A word as the shell takes it, sh(1). @param {string} word */
function quoted(word) {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * @param {string} url
 * @param {Instance} instance
 * @param {import('./start/options.mjs').StartOptions} options
 * @param {readonly string[]} absent ports whose interface is not here
 */
function welcome(url, instance, options, absent) {
  const lines = [`Tollway is up after ${seconds(started)}: ${url}`];
  lines.push(
    setupLink(url, options.dataDir) ?? '  It has been set up: log in as one of its users (at first that is admin).',
  );
  if (instance.lab !== null) {
    const here = options.dataDir === inProject('data') ? '' : ` --data-dir ${quoted(options.dataDir)}`;
    lines.push(
      `  Lab: npm run lab${here && ` --${here}`}            (hosts; npm run lab --${here} sh lan opens a shell)`,
    );
  }
  if (instance.ports.length > 0 && instance.lab === null) {
    const names = instance.ports.map(
      (port, index) => `${port} as ether${index + 1}${absent.includes(port) ? ' (when it comes)' : ''}`,
    );
    lines.push(`  Claimed: ${names.join(', ')}; given back at the end.`);
  }
  lines.push('  Stop with Ctrl-C.');
  console.log(lines.join('\n'));
}

/**
 * Registers this run: from here on whatever it makes is taken away, at its end, or by the next start that finds its agent ended or has its data folder.
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

/** Two runs on one data folder would share a database and a socket. */
async function refuseSecond(/** @type {string} */ dataDir) {
  const other = instances().find((instance) => isSameFolder(instance.dataDir, dataDir));
  if (other === undefined) return;
  // A run whose npm was killed notices it within a second and removes itself.
  if (await until(() => !isRunning(other.supervisor), 4000)) return;
  throw new UserError(
    `Tollway already runs with this data folder (pid ${other.supervisor.pid}, ${urlOf(other.listen)}).\n` +
      'Stop it, or choose another: npm start -- --data-dir DIR --listen ADDR:PORT',
  );
}

/**
 * What can be refused is, before anything is ended that a killed run has left.
 * @param {import('./start/options.mjs').StartOptions} options
 */
async function refuseBefore(options) {
  const { dataDir, listen, restore } = options;
  const here = instances().filter((each) => each.listen === listen && each.netns === currentNetns());
  // One that has just begun may not listen yet.
  const other = here.find(
    (each) => !isSameFolder(each.dataDir, dataDir) && (isRunning(each.supervisor) || isForwarding(each)),
  );
  if (other !== undefined) {
    throw new UserError(
      `cannot listen on ${listen}: Tollway with the data folder ${other.dataDir} does. Choose another address: --listen ADDR:PORT`,
    );
  }
  // Those that are here now are ended; what else listens where an API has ended is not.
  if (!here.some(isManaged)) await requireFreeAddress(listen);
  if (options.ports === undefined) refuseWithoutPorts(dataDir);
  else refusePorts(options, options.ports);
  if (restore !== undefined) runShort([...restoreCommand(restore), '--check'], apiEnv(options));
}

/** A router that forwards between interfaces is not ended by a start that does not name them. @param {string} dataDir */
function refuseWithoutPorts(dataDir) {
  const own = instances().find((each) => isSameFolder(each.dataDir, dataDir));
  if (own === undefined || own.lab !== null || own.ports.length === 0 || !isForwarding(own)) return;
  const names = own.ports.join(',');
  throw new UserError(
    `the router of ${dataDir} forwards between ${names}, though nothing starts its agent again: start it anew with --ports ${names}, or to end it, stop it then`,
    2,
  );
}

/** @param {import('./start/options.mjs').StartOptions} options @param {string[]} ports */
function refusePorts(options, ports) {
  const others = instances().filter((each) => !isSameFolder(each.dataDir, options.dataDir));
  const folders = [options.dataDir];
  for (const other of others) {
    const taken =
      other.netns === currentNetns() && other.lab === null ? ports.filter((name) => other.ports.includes(name)) : [];
    if (taken.length === 0) continue;
    // What a killed one has noted of them is asked before they are given back.
    if (!isRunning(other.supervisor) && !isForwarding(other)) {
      folders.push(other.dataDir);
      continue;
    }
    // Two agents would both forward what comes in.
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
 * Runs a short command whose refusal is the one to tell.
 * @param {readonly string[]} argv
 * @param {NodeJS.ProcessEnv} env
 * @returns {string} what it says
 */
function runShort([program = '', ...args], env) {
  const { status, stdout, stderr } = spawnSync(program, args, { env, encoding: 'utf8' });
  if (status !== 0) throw new UserError(stderr.trim() || `${program} ${args.join(' ')} failed`, status === 2 ? 2 : 1);
  return stdout.trim();
}

/** @param {string} listen */
async function requireFreeAddress(listen) {
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
 * Those of the ports whose interface is not here now; the agent goes on without one, as when it vanishes.
 * @param {readonly string[]} names
 * @param {string} dataDir
 * @throws UserError (exit code 2) for one that this router has not had yet
 */
function absentInterfaces(names, dataDir) {
  /** @type {{ ifname: string }[]} */
  const links = JSON.parse(run('ip', ['-json', 'link', 'show']).stdout);
  const present = links.map((link) => link.ifname).filter((name) => name !== 'lo');
  const absent = names.filter((name) => !present.includes(name));
  const before = portsBefore(dataDir);
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

/** @returns {Promise<string>} resolves with the reason when this run is to end */
function stopRequest() {
  return new Promise((resolve) => {
    for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => resolve(signal));
    // Under nohup(1) the end of the terminal is not to end this run.
    if (!hangUpIgnored()) process.on('SIGHUP', () => resolve('the terminal has gone'));
    // npm killed with SIGKILL cannot pass the signal on; what it started must not stay.
    const npm = npmAncestor();
    if (npm === undefined) return;
    setInterval(() => {
      if (!isRunning(npm)) resolve('npm has gone');
    }, 500).unref();
  });
}

/** Whether SIGHUP is ignored: bit 0 of SigIgn in /proc/self/status, proc_pid_status(5). */
function hangUpIgnored() {
  const mask = /^SigIgn:\s*([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return (BigInt(`0x${mask}`) & 1n) === 1n;
}

/** The npm that runs this script, if one does. */
function npmAncestor() {
  if (process.env.npm_lifecycle_event === undefined) return undefined;
  for (let pid = parentOf(process.pid); pid !== undefined && pid > 1; pid = parentOf(pid)) {
    if (/\bnpm\b/.test(commandLine(pid).split(' ').slice(0, 2).join(' '))) return identify(pid);
  }
  return undefined;
}
