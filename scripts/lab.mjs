// @ts-check
/** `npm run lab`: lists the lab's hosts, or runs a shell or a command in one of them. */
import { spawnSync } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { inProject, main, UserError } from './project.mjs';
import { isSameFolder } from './start/paths.mjs';
import { runningInstances } from './start/registry.mjs';
import { urlOf } from './start/services.mjs';

const usage = `npm run lab                             hosts, addresses and the router ports they hang on
npm run lab -- sh HOST                  a shell in a host
npm run lab -- exec HOST -- COMMAND …   one command in a host; its exit code is passed on
npm run lab -- --data-dir DIR …         the lab of the run with this data folder

HOST is lan, lan2, wan, server, or router (the router's own namespace with its services).`;

await main(async () => {
  const args = process.argv.slice(2);
  const dataDir = takeDataDir(args);
  const [verb, host, ...rest] = args;
  if (verb === '--help' || verb === 'help') {
    console.log(usage);
    return 0;
  }
  const command = rest[0] === '--' ? rest.slice(1) : rest;
  if (verb === undefined) return show(findInstance(dataDir));
  if (verb === 'sh' && host !== undefined && command.length === 0) return shell(findInstance(dataDir), host);
  if (verb === 'exec' && host !== undefined && command.length > 0) {
    return execute(namespaceOf(findInstance(dataDir), host), command, process.env);
  }
  throw new UserError(`npm run lab does not know "${args.join(' ')}"\n\n${usage}`, 2);
});

/** @param {string[]} args the option is removed from them @returns {string | undefined} */
function takeDataDir(args) {
  const end = args.indexOf('--');
  const index = args.findIndex((arg, at) => (end < 0 || at < end) && /^--data-dir(=|$)/.test(arg));
  if (index < 0) return undefined;
  const inline = args[index]?.slice('--data-dir='.length);
  const value = inline || args[index + 1];
  args.splice(index, inline ? 1 : 2);
  if (value === undefined) throw new UserError('--data-dir takes a folder', 2);
  return path.resolve(process.env.INIT_CWD ?? process.cwd(), value);
}

/** @param {string | undefined} dataDir */
function findInstance(dataDir) {
  const running = runningInstances();
  const wanted = dataDir ?? inProject('data');
  const instance =
    running.find((each) => isSameFolder(each.dataDir, wanted)) ??
    (dataDir === undefined && running.length === 1 ? running[0] : undefined);
  if (instance === undefined) {
    const others = running.map((each) => `\n  npm run lab -- --data-dir ${each.dataDir}`).join('');
    throw new UserError(
      others === ''
        ? 'no Tollway runs here: start it with npm start'
        : `no Tollway runs with the data folder ${wanted}; there are:${others}`,
    );
  }
  return instance;
}

/** @param {import('./start/registry.mjs').Instance} instance */
function show(instance) {
  console.log(`${urlOf(instance.listen)}, data folder ${instance.dataDir}`);
  if (instance.lab === null) {
    console.log(`This run has no lab. Ports: ${instance.ports.join(', ') || 'none'}`);
    return 0;
  }
  const rows = [
    ['HOST', 'ROUTER PORT', 'ADDRESSES', 'GATEWAY', 'WHAT'],
    ...instance.lab.hosts.map((host) => [
      host.name,
      host.routerPort ?? '-',
      [...host.addresses, ...(host.more ?? []), ...host.ipv6.addresses].join(' '),
      host.gateway ?? '-',
      host.about,
    ]),
    ['router', '-', '(those of the router)', '-', 'its own namespace: services listen here'],
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of rows) console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  console.log(
    '\nnpm run lab -- sh lan          npm run lab -- exec lan -- ping -c3 198.51.100.10      … ping -c3 2001:db8:198::10',
  );
  return 0;
}

/** @param {import('./start/registry.mjs').Instance} instance @param {string} name */
function namespaceOf(instance, name) {
  if (name === 'router' && instance.routerNetns !== null) return instance.routerNetns;
  const host = instance.lab?.hosts.find((each) => each.name === name);
  if (host !== undefined) return host.netns;
  const names = [...(instance.lab?.hosts.map((each) => each.name) ?? []), 'router'];
  throw new UserError(`the lab has no host "${name}"; it has ${names.join(', ')}`, 2);
}

/** @param {import('./start/registry.mjs').Instance} instance @param {string} name */
function shell(instance, name) {
  const netns = namespaceOf(instance, name);
  console.log(`A shell in ${name}; leave it with exit.`);
  return execute(netns, ['sh'], { ...process.env, PS1: `${name}# ` });
}

/** @param {string} netns @param {readonly string[]} command @param {NodeJS.ProcessEnv} env @returns {number} its exit code */
function execute(netns, command, env) {
  // Ctrl-C is handled by the command, whose exit code is returned.
  process.on('SIGINT', () => {});
  const result = spawnSync('ip', ['netns', 'exec', netns, ...command], { stdio: 'inherit', env });
  if (result.error) throw new UserError(`ip netns exec ${netns}: ${result.error.message}`);
  return result.status ?? 128 + (result.signal === null ? 0 : (os.constants.signals[result.signal] ?? 0));
}
