// The agent's process: reads the options, loads the addon, passes signals on. Everything else is Rust.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const USAGE = `node host.mjs --socket PATH --data-dir DIR [--netns-name NAME] [--ports eth1,eth2 | --memory]
              [--take-over] [--workers N] [--check]`;

/** Ends the process with a clear line: 2 for what the caller can mend, 1 for the rest. */
function fail(message, code) {
  console.error(message);
  process.exit(code);
}

function readOptions() {
  let values;
  try {
    ({ values } = parseArgs({
      options: {
        socket: { type: 'string' },
        'data-dir': { type: 'string' },
        'netns-name': { type: 'string', default: 'tollway' },
        ports: { type: 'string', default: '' },
        memory: { type: 'boolean', default: false },
        'take-over': { type: 'boolean', default: false },
        workers: { type: 'string' },
        check: { type: 'boolean', default: false },
      },
    }));
  } catch (error) {
    fail(`${error.message}\n${USAGE}`, 2);
  }
  if (!values.socket || !values['data-dir']) fail(`--socket and --data-dir are needed\n${USAGE}`, 2);
  if (values.workers !== undefined && !/^[0-9]{1,3}$/.test(values.workers)) {
    fail('--workers takes a number from 1 to 64', 2);
  }
  return {
    socket: path.resolve(values.socket),
    dataDir: path.resolve(values['data-dir']),
    netnsName: values['netns-name'],
    ports: values.ports === '' ? [] : values.ports.split(',').map((port) => port.trim()),
    memory: values.memory,
    takeOver: values['take-over'],
    workers: values.workers === undefined ? undefined : Number(values.workers),
    check: values.check,
  };
}

// Configurations and their rows are nobody else's.
process.umask(0o077);

const { check, ...options } = readOptions();
const addon = new URL(`./tollway.${process.env.TOLLWAY_CARGO_PROFILE ?? 'release'}.node`, import.meta.url);
let agent;
try {
  const { Agent } = createRequire(import.meta.url)(fileURLToPath(addon));
  agent = new Agent();
} catch (error) {
  fail(`the agent is not built (npm run build -w packages/dataplane-agent): ${error.message}`, 1);
}

if (check) {
  try {
    agent.check(options);
  } catch (error) {
    fail(error.message, error.code === 'InvalidArg' ? 2 : 1);
  }
  process.exit(0);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => agent.stop());

// The log is a file: a disk that is full or read-only is no reason to end, nor is want of a pid file, for whatever reason.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const pidFile = path.join(options.dataDir, 'run', 'agent.pid');
try {
  mkdirSync(path.dirname(pidFile), { recursive: true });
  writeFileSync(pidFile, `${process.pid}\n`);
} catch (error) {
  console.error(`the pid file cannot be written: ${error.message}`);
}

try {
  await agent.run(options);
} catch (error) {
  removePidFile();
  fail(error.message, error.code === 'InvalidArg' ? 2 : 1);
}
removePidFile();
process.exit(0);

function removePidFile() {
  try {
    rmSync(pidFile, { force: true });
  } catch {
    // On a file system that has become read-only it stays.
  }
}
