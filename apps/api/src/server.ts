import { existsSync } from 'node:fs';
import { chmod, lstat, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { AgentSocket } from './agent/socket.js';
import { buildApp } from './app.js';
import { refusePassword } from './auth/passwords.js';
import { SetupToken } from './auth/setup-token.js';
import type { Log } from './config/store.js';
import { type Database, openDatabase } from './database/client.js';
import { DatabaseFault, faultOf } from './database/fault.js';
import { databaseFile, signatureOf } from './database/file.js';
import { type Migration, readMigrations } from './database/migrate.js';
import { type Env, readEnv } from './env.js';
import { messageOf } from './errors.js';
import { restorableFrom } from './generations/restore.js';
import { readStored, readyDatabase } from './startup/database.js';
import { unavailableApp } from './unavailable.js';

/** The process: starts and stops environment, database, agent and HTTP. */

// The log may be written to a file: errors of a full disk must not end the process.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const migrations = fileURLToPath(new URL('../../../prisma/migrations/', import.meta.url));

/** Interval of retries while the database cannot be used, ms. */
const RETRY_MS = 2_000;

/** The application and its databases, which are closed when the process ends. */
interface Running {
  readonly app: FastifyInstance;
  readonly databases: readonly Database[];
}

let running: Running | undefined;

async function main(): Promise<void> {
  let env: Env;
  try {
    env = readEnv(process.env);
    delete process.env.TOLLWAY_ADMIN_PASSWORD;
    if (env.passwordOnInput) env = { ...env, adminPassword: await passwordOnInput() };
    const refused = env.adminPassword === undefined ? undefined : refusePassword(env.adminPassword);
    if (refused !== undefined) throw new Error(`TOLLWAY_ADMIN_PASSWORD cannot be used: ${refused}`);
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    process.exit(2);
  }
  // Files that this process creates are not accessible to other users.
  process.umask(0o077);
  const run = join(env.dataDir, 'run');
  if (!existsSync(run)) {
    await mkdir(run, { recursive: true }).catch((error: unknown) => {
      // Only the pid file and a link to the first password are there: a router that has been set up does without.
      if (existsSync(env.dataDir)) return;
      process.stderr.write(
        `The folder ${env.dataDir} of TOLLWAY_DATA_DIR cannot be written: make it writable, or give another one (${String(error)})\n`,
      );
      process.exit(2);
    });
  }
  await closeToOthers(env.dataDir);
  const pidFile = join(run, 'api.pid');
  const stop = async () => {
    await running?.app.close();
    // Moves the write-ahead log into the database file, so that a copy of this file alone is complete.
    const [database] = running?.databases ?? [];
    await database?.$queryRawUnsafe('PRAGMA wal_checkpoint(TRUNCATE)').catch(() => undefined);
    await Promise.all(running?.databases.map((each) => each.$disconnect()) ?? []);
    await rm(pidFile, { force: true }).catch(() => undefined);
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      stop().catch((error: unknown) => {
        running?.app.log.error(error);
        process.exit(1);
      });
    });
  }
  const known = await readMigrations(migrations);
  const agent = (log: Log) => new AgentSocket(env.agentSocket, log);
  let opened = await open(env, known);
  while ('kind' in opened) {
    const fault: DatabaseFault = opened;
    process.stderr.write(`${fault.text}\n`);
    running = { app: await unavailableApp(fault, { ...env, agent }), databases: [] };
    await listen(env, pidFile);
    // Requests are answered while the fault is unchanged.
    do {
      await changed(fault);
      opened = await open(env, known);
    } while ('kind' in opened && opened.text === fault.text);
    await running.app.close();
  }
  running = opened;
  await listen(env, pidFile);
}

/** Opens the database and builds the application, or returns the fault that prevents it. */
async function open(env: Env, known: readonly Migration[]): Promise<Running | DatabaseFault> {
  const databases: Database[] = [];
  const file = databaseFile(env.databaseUrl);
  const opened = (): Database => {
    const database = openDatabase(env.databaseUrl);
    databases.push(database);
    return database;
  };
  try {
    const kept = await readyDatabase(env.databaseUrl, env.dataDir, known);
    const writer = opened();
    const [db, counts, accounts] = [opened(), opened(), opened()];
    // Connects all clients now: a client that connected later might find another file at the path.
    for (const client of databases) await client.identity.count();
    const app = await buildApp({
      ...env,
      db,
      writer,
      stored: await readStored(writer, file, kept),
      counts,
      accounts,
      databaseFile: file,
      agent: (log) => new AgentSocket(env.agentSocket, log),
      setup: new SetupToken(join(env.dataDir, 'run', 'setup-token')),
    });
    return { app, databases };
  } catch (error) {
    await Promise.all(databases.map((each) => each.$disconnect().catch(() => undefined)));
    const why = error instanceof Error ? (error.message.trim().split('\n').at(-1) ?? '') : String(error);
    const fault = faultOf(error, file) ?? new DatabaseFault('unusable', file, why, error);
    const restorable = restorableFrom(env.dataDir);
    if (restorable === undefined) return fault.withoutCopies();
    return restorable.value === undefined ? fault : fault.naming(restorable.value);
  }
}

/** Waits until a retry makes sense. */
async function changed(fault: DatabaseFault): Promise<void> {
  const before = signatureOf(fault.file);
  do await sleep(RETRY_MS);
  while (!fault.passing && signatureOf(fault.file) === before);
}

async function listen(env: Env, pidFile: string): Promise<void> {
  if (running === undefined) return;
  const url = await running.app.listen({ host: env.host, port: env.port });
  // A full disk must not end the process.
  await writeFile(pidFile, String(process.pid)).catch((error: unknown) => running?.app.log.warn(String(error)));
  process.stdout.write(`listening on ${url}\n`);
}

async function passwordOnInput(): Promise<string | undefined> {
  let text = '';
  for await (const chunk of process.stdin) text += String(chunk);
  return text.replace(/\n$/, '') || undefined;
}

/**
 * The database contains password hashes: it and its folder are made accessible to their owner only, even if they
 * existed before.
 */
async function closeToOthers(dataDir: string): Promise<void> {
  const names = (await readdir(dataDir)).filter((name) => /^(run|tollway\.db.*)$/.test(name));
  for (const name of names) {
    const file = join(dataDir, name);
    const { mode } = await lstat(file);
    if ((mode & 0o077) === 0) continue;
    // On a read-only file system the permissions stay unchanged; the router reports the remedy elsewhere.
    await chmod(file, name === 'run' ? 0o700 : 0o600).catch((error: unknown) => {
      process.stderr.write(`${file} stays open to others: ${String(error)}\n`);
    });
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exit(1);
});
