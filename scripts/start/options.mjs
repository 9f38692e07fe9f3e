// @ts-check
/** The options of `npm start`. */
import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import path from 'node:path';
import { inProject, UserError } from '../project.mjs';

export const usage = `npm start [-- OPTIONS]

Without options: makes the lab (network namespaces around the router), fills an empty database with the
default configuration and serves http://127.0.0.1:8080.

  --ports eth1,eth2     claim these interfaces of this network namespace as ether1, ether2, … in this order
                        (no lab); they are given back as they were at the end
  --take-over           claim them even if one carries the default route or your SSH session
  --listen ADDR:PORT    where the web page and the API listen (127.0.0.1:8080)
  --name NAME           another name that the router answers to, e.g. router.example.net; may be given again
  --trusted-proxy ADDR  a reverse proxy in front of the page, whose X-Forwarded-For says who asks; may be given again
  --data-dir DIR        database, active configuration, pid files (data in the project)
  --no-lab              do not make the lab
  --no-defaults         leave an empty database empty: no addresses, rules or queues
  --restore [REVISION]  first rebuild the database from the configuration that this router had last, or at a revision;
                        the database from before is kept beside it
  --memory              the same engine on memory ports with generated traffic; needs no root
  --help                this text

TOLLWAY_ADMIN_PASSWORD sets the first password of admin without the browser.`;

/**
 * @typedef {{
 *   ports: string[] | undefined, takeOver: boolean, listen: string, names: string[], trustedProxies: string[], dataDir: string,
 *   restore: 'newest' | number | undefined, lab: boolean, defaults: 'lab' | 'memory' | 'ports' | 'none', memory: boolean, help: boolean,
 * }} StartOptions
 */

/**
 * @param {readonly string[]} argv
 * @returns {StartOptions}
 * @throws UserError (exit code 2) naming the option and what it accepts
 */
export function parseOptions(argv) {
  /** @type {StartOptions} */
  const options = {
    ports: undefined,
    takeOver: false,
    listen: '127.0.0.1:8080',
    names: [],
    trustedProxies: [],
    dataDir: inProject('data'),
    restore: undefined,
    lab: true,
    defaults: 'lab',
    memory: false,
    help: false,
  };
  let noDefaults = false;
  /** @type {Record<string, (value: string) => void>} */
  const withValue = {
    '--ports': (value) => {
      options.ports = portList(value);
    },
    '--listen': (value) => {
      options.listen = listenAddress(value);
    },
    '--name': (value) => {
      options.names.push(hostName(value));
    },
    '--trusted-proxy': (value) => {
      options.trustedProxies.push(proxyAddress(value));
    },
    '--data-dir': (value) => {
      options.dataDir = dataDir(value);
    },
  };
  /** @type {Record<string, () => void>} */
  const switches = {
    '--take-over': () => {
      options.takeOver = true;
    },
    '--no-lab': () => {
      options.lab = false;
    },
    '--no-defaults': () => {
      noDefaults = true;
    },
    '--memory': () => {
      options.memory = true;
    },
    '--help': () => {
      options.help = true;
    },
  };
  for (let index = 0; index < argv.length; index++) {
    const [name = '', ...rest] = (argv[index] ?? '').split('=');
    const inline = rest.length > 0 ? rest.join('=') : undefined;
    const flag = Object.hasOwn(switches, name) ? switches[name] : undefined;
    const setter = Object.hasOwn(withValue, name) ? withValue[name] : undefined;
    if (name === '--restore') {
      const next = argv[index + 1];
      const value = inline ?? (next !== undefined && /^\d+$/.test(next) ? argv[++index] : undefined);
      options.restore = value === undefined ? 'newest' : revision(value);
    } else if (flag !== undefined) {
      if (inline !== undefined) throw new UserError(`${name} takes no value`, 2);
      flag();
    } else if (setter !== undefined) {
      const value = inline ?? argv[++index];
      if (value === undefined) throw new UserError(`${name} needs a value\n\n${usage}`, 2);
      if (inline === undefined && value.startsWith('--')) {
        throw new UserError(
          `${name} needs a value, and "${value}" stands in its place; one that begins so: ${name}=${value}`,
          2,
        );
      }
      setter(value);
    } else {
      throw new UserError(`unknown option "${argv[index]}"\n\n${usage}`, 2);
    }
  }
  if (options.memory && options.ports !== undefined) {
    throw new UserError('--memory makes its own ports: leave out --ports', 2);
  }
  if (options.takeOver && options.ports === undefined) {
    throw new UserError('--take-over belongs to --ports: name the interfaces to claim', 2);
  }
  if (options.ports !== undefined || options.memory) options.lab = false;
  options.defaults = noDefaults ? 'none' : options.lab ? 'lab' : options.memory ? 'memory' : 'ports';
  return options;
}

/** @param {string} value */
function revision(value) {
  if (/^(0|[1-9]\d{0,14})$/.test(value)) return Number(value);
  throw new UserError(`--restore takes the number of a revision, or nothing for the newest, not "${value}"`, 2);
}

/** @param {string} value */
function portList(value) {
  const names = value.split(',');
  // Interface names that the kernel accepts: dev_valid_name() in net/core/dev.c.
  const wrong = names.find((name) => !/^[^\s/:]{1,15}$/.test(name) || name === '.' || name === '..');
  if (wrong !== undefined) {
    throw new UserError(`--ports takes interface names separated by commas, e.g. eth1,eth2; "${wrong}" is none`, 2);
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new UserError(`--ports names ${twice} twice`, 2);
  return names;
}

/** @param {string} value */
function listenAddress(value) {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(value);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  const valid = match?.[1] === undefined ? host === 'localhost' || isIP(host ?? '') === 4 : isIP(match[1]) === 6;
  if (!valid || !(port >= 1 && port <= 65535)) {
    throw new UserError(
      `--listen takes address:port with a port of 1–65535, e.g. 127.0.0.1:8080 or [::1]:8080, not "${value}"`,
      2,
    );
  }
  return value;
}

/** @param {string} value */
function hostName(value) {
  if (isIP(value) !== 0 || /^(?=.{1,253}$)[a-z0-9_]([a-z0-9._-]*[a-z0-9])?$/i.test(value)) return value;
  throw new UserError(`--name takes a host name without a port, e.g. router.example.net, not "${value}"`, 2);
}

/** @param {string} value */
function proxyAddress(value) {
  if (isIP(value) !== 0) return value;
  throw new UserError(`--trusted-proxy takes the address of a reverse proxy, e.g. 127.0.0.1 or ::1, not "${value}"`, 2);
}

/** @param {string} value */
function dataDir(value) {
  if (value === '') throw new UserError('--data-dir takes a folder', 2);
  // npm runs scripts in the project's folder; the folder the user typed the command in is in INIT_CWD.
  return path.resolve(process.env.INIT_CWD ?? process.cwd(), value);
}

/** @param {string} folder data folder @returns {string} short and stable identifier of the instance with this folder */
export const instanceHash = (folder) => createHash('sha256').update(folder).digest('hex').slice(0, 6);
