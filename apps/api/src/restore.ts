import { fileURLToPath } from 'node:url';
import { readMigrations } from './database/migrate.js';
import { readEnv } from './env.js';
import { messageOf } from './errors.js';
import { CannotRestore, restore } from './generations/restore.js';

/**
 * The command that `npm start -- --restore [GENERATION]` runs. It prints one line: what was done, or why nothing was
 * done. With `--check` it only tests whether the restore is possible.
 */

const migrations = fileURLToPath(new URL('../../../prisma/migrations/', import.meta.url));

async function main(): Promise<number> {
  const { databaseUrl, dataDir } = readEnv(process.env);
  const args = process.argv.slice(2);
  const checks = args.at(-1) === '--check';
  const [wanted, ...more] = checks ? args.slice(0, -1) : args;
  if (more.length > 0 || (wanted !== undefined && !/^(0|[1-9]\d{0,14})$/.test(wanted))) {
    const given = JSON.stringify([wanted, ...more].join(' '));
    process.stderr.write(`--restore takes the number of a revision, or nothing for the newest, not ${given}\n`);
    return 2;
  }
  try {
    const number = wanted === undefined ? undefined : Number(wanted);
    const { generation, revision, keptAs, damaged, isOutdated, replaced } = await restore(
      databaseUrl,
      dataDir,
      await readMigrations(migrations),
      number,
      checks,
    );
    if (checks) return 0;
    const old = keptAs === undefined ? '' : `; the database from before is kept as ${keptAs}`;
    const lost =
      replaced === undefined
        ? ''
        : `; revision ${replaced}, which the data plane has and nothing else has kept, is replaced by it`;
    const why =
      damaged.length > 0
        ? `${damaged.join(', ')} is damaged`
        : isOutdated
          ? 'what was kept last is missing'
          : undefined;
    const unsure = why === undefined ? '' : `; users are those of the newest whole copy, as ${why}: look at them`;
    process.stdout.write(
      `restored generation ${generation.revision} of ${generation.time} (${generation.summary}) as revision ${revision}${old}${lost}${unsure}\n`,
    );
    return 0;
  } catch (error) {
    if (!(error instanceof CannotRestore)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n`);
  return 1;
});
