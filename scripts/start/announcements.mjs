// @ts-check
/** Messages about the router on the terminal of a run. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { seconds } from '../process.mjs';
import { inProject, UserError } from '../project.mjs';
import { runDir } from './paths.mjs';
import { health } from './services.mjs';

/** Interval of checks of the management plane, ms. */
const CHECK_MS = 3_000;
/**
 * Number of consecutive checks without a response of the agent until it is reported: a terminated agent is restarted
 * sooner.
 */
const SILENT_CHECKS = 4;

/** @param {{ problem?: string }} state @param {boolean} forwards @param {string} url */
export function unmanaged({ problem }, forwards, url) {
  const meanwhile = forwards ? 'The router forwards by its last configuration' : 'Nothing is forwarded now';
  return `• ${problem}\n  ${meanwhile}; ${url} says what is wrong until that is mended. Stop with Ctrl-C.`;
}

/**
 * Prints a message when the management plane stops working, and when it works again.
 * @param {string} url
 * @param {{ problem?: string }} said the problem that was last printed
 * @param {string} dataDir
 */
export function watchManagement(url, said, dataDir) {
  let reported = said.problem;
  let forwarded = true;
  let silent = 0;
  return setInterval(async () => {
    const state = await health(url);
    const { listening, healthy, forwarding } = state;
    silent = state.silent === undefined ? 0 : silent + 1;
    const problem = state.problem ?? (silent < SILENT_CHECKS ? undefined : state.silent);
    // Another problem may remain after the first is solved.
    if (!listening || (problem === undefined && (reported === undefined || !healthy))) return;
    if (problem === reported && (problem === undefined || forwarding === forwarded)) return;
    if (problem === undefined) console.error(`• management works again: ${url}`);
    else console.error(state.problem === undefined ? `• ${problem}` : unmanaged(state, forwarding, url));
    const link = problem === undefined ? setupLink(url, dataDir) : undefined;
    if (link !== undefined) console.log(link);
    [reported, forwarded] = [problem, forwarding];
  }, CHECK_MS);
}

/** @param {import('./supervisor.mjs').Supervisor} supervisor @param {{ listening: boolean }} state */
export function notUp(supervisor, state) {
  const who = state.listening ? 'the agent does not forward' : 'the API does not answer';
  return new UserError(`after 30 s ${who}; see ${supervisor.logFile('agent')} and ${supervisor.logFile('api')}`);
}

/** The line with the link that sets the first password; undefined when there is one. @param {string} url @param {string} dataDir */
function setupLink(url, dataDir) {
  const tokenFile = path.join(runDir(dataDir), 'setup-token');
  if (!existsSync(tokenFile)) return undefined;
  return `  Set the first password of admin: ${url}/#setup=${readFileSync(tokenFile, 'utf8').trim()}`;
}

/** A word quoted for the shell, sh(1). @param {string} word */
function quoted(word) {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * @param {string} url
 * @param {import('./registry.mjs').Instance} instance
 * @param {import('./options.mjs').StartOptions} options
 * @param {readonly string[]} absent ports whose interface is not here
 * @param {number} started when the start began, by `performance.now()`
 */
export function welcome(url, instance, options, absent, started) {
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
