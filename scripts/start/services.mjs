// @ts-check
/** The agent and the API as processes. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { enterNetns } from '../netns.mjs';
import { agentDir, inProject } from '../project.mjs';
import { socketOf } from './paths.mjs';

/**
 * @param {{ dataDir: string, routerNetns: string | null, ports: readonly string[], lab: import('../lab/topology.mjs').Lab | null }} instance
 *   without a router namespace: on memory ports
 * @param {{ takeOver?: boolean }} [options]
 * @returns {string[]}
 */
export function agentCommand(instance, options = {}) {
  const { dataDir, routerNetns, ports, lab } = instance;
  const argv = [
    process.execPath,
    path.join(agentDir, 'host.mjs'),
    '--socket',
    socketOf(dataDir),
    '--data-dir',
    dataDir,
  ];
  if (routerNetns === null) return [...argv, '--memory'];
  argv.push('--netns-name', routerNetns);
  if (ports.length > 0) argv.push('--ports', ports.join(','));
  if (options.takeOver === true) argv.push('--take-over');
  return lab === null ? argv : enterNetns(lab.portsNetns, argv);
}

/** @returns {string[]} */
export const apiCommand = () => [process.execPath, inProject('apps', 'api', 'dist', 'server.js')];

/**
 * @param {import('./options.mjs').StartOptions} options
 * @returns {NodeJS.ProcessEnv}
 */
export function apiEnv(options) {
  return {
    ...process.env,
    NODE_ENV: 'production',
    TOLLWAY_ADMIN_PASSWORD_STDIN: '1',
    TOLLWAY_LISTEN: options.listen,
    TOLLWAY_NAMES: [...options.names, ...(process.env.TOLLWAY_NAMES ?? '').split(',')].join(','),
    TOLLWAY_TRUSTED_PROXIES: [
      ...options.trustedProxies,
      ...(process.env.TOLLWAY_TRUSTED_PROXIES ?? '').split(','),
    ].join(','),
    TOLLWAY_DATA_DIR: options.dataDir,
    TOLLWAY_AGENT_SOCKET: socketOf(options.dataDir),
    TOLLWAY_DEFAULTS: options.defaults,
    TOLLWAY_WEB_ROOT: inProject('apps', 'web', 'dist'),
  };
}

/** @param {string} listen address:port @returns {string} URL under which this machine reaches it */
export function urlOf(listen) {
  return `http://${listen.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:')}`;
}

/** @param {'newest' | number} revision @returns {string[]} */
export const restoreCommand = (revision) => [
  process.execPath,
  inProject('apps', 'api', 'dist', 'restore.js'),
  ...(revision === 'newest' ? [] : [String(revision)]),
];

/** Whether this router has been set up: then its agent forwards even without the API. @param {string} dataDir */
export const isSetUp = (dataDir) => existsSync(path.join(dataDir, 'agent', 'active.tollway'));

/**
 * One look at the API. `problem`: what keeps management from working, and what to do. That the agent has ended, or has not
 * got its configuration yet, is none: whoever starts it sees it end. `silent`: what is said of an agent that does not answer.
 * @param {string} url
 * @returns {Promise<{ listening: boolean, healthy: boolean, forwarding: boolean, problem?: string, silent?: string }>}
 */
export async function health(url) {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(1000) });
    /** @type {{ forwarding?: unknown, concerns?: unknown, agent?: unknown, problem?: unknown, remedy?: unknown }} */
    const body = Object(await response.json());
    const text = typeof body.problem === 'string' ? `${body.problem} ${body.remedy ?? ''}` : undefined;
    const isProblem = body.concerns === 'database' || body.concerns === 'data-folder' || body.agent === 'ahead';
    const problem =
      text === undefined ? {} : isProblem ? { problem: text } : body.agent === 'down' ? { silent: text } : {};
    return { listening: true, healthy: response.status === 200, forwarding: body.forwarding === true, ...problem };
  } catch {
    return { listening: false, healthy: false, forwarding: false };
  }
}
