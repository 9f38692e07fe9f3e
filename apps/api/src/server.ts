import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { AgentSocket } from './agent/socket.js';
import { buildApp } from './app.js';
import { SetupToken } from './auth/setup-token.js';
import { openDatabase } from './database/client.js';
import { migrate, readMigrations } from './database/migrate.js';
import { type Env, readEnv } from './env.js';

/** The process: environment, database, agent, HTTP; and their end. */

// The log is a file: a full disk is no reason to end.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const migrations = fileURLToPath(new URL('../../../prisma/migrations/', import.meta.url));

async function main(): Promise<void> {
  let env: Env;
  try {
    env = readEnv(process.env);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  }
  const run = join(env.dataDir, 'run');
  await mkdir(run, { recursive: true });
  await migrate(env.databaseUrl, await readMigrations(migrations));
  const db = openDatabase(env.databaseUrl);
  const writer = openDatabase(env.databaseUrl);
  const counts = openDatabase(env.databaseUrl);
  const app = await buildApp({
    ...env,
    db,
    writer,
    counts,
    agent: (log) => new AgentSocket(env.agentSocket, log),
    setup: new SetupToken(join(run, 'setup-token')),
  });

  const pidFile = join(run, 'api.pid');
  const stop = async (app: FastifyInstance) => {
    await app.close();
    await Promise.all([db.$disconnect(), writer.$disconnect(), counts.$disconnect()]);
    await rm(pidFile, { force: true });
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      stop(app).catch((error: unknown) => {
        app.log.error(error);
        process.exit(1);
      });
    });
  }
  const url = await app.listen({ host: env.host, port: env.port });
  await writeFile(pidFile, String(process.pid));
  process.stdout.write(`listening on ${url}\n`);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(1);
});
