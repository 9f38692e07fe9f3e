// @ts-check
/** `npm run build`: builds everything that has changed. `npm start` and `npm test` use the same steps. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildNeeds, ensureNode, ensureNodeModules, ensurePrograms, ensureRust, quietInstallEnv } from './install.mjs';
import { runLong } from './process.mjs';
import { agentDir, inProject, main } from './project.mjs';
import { unlessFresh } from './stamp.mjs';

/** Cargo profile of the agent: `release` is what users run, `checked` what tests run. */
const cargoProfile = () => process.env.TOLLWAY_CARGO_PROFILE ?? 'release';

const nodeModule = (/** @type {string[]} */ ...parts) => inProject('node_modules', ...parts);

/** The Rust addon of the agent. */
export async function buildAgent() {
  const profile = cargoProfile();
  await unlessFresh(
    {
      name: `agent-${profile}`,
      inputs: ['Cargo.toml', 'Cargo.lock', 'crates', 'scripts', 'package.json', 'host.mjs'].map((name) =>
        path.join('packages', 'dataplane-agent', name),
      ),
      outputs: [`packages/dataplane-agent/tollway.${profile}.node`],
      also: profile,
    },
    async () => {
      const cargoFolder = ensureRust();
      await ensurePrograms(buildNeeds);
      await runLong(
        `building the agent (Rust, profile ${profile}, about 3 minutes the first time)`,
        process.execPath,
        ['scripts/build.mjs'],
        {
          cwd: agentDir,
          env: {
            ...process.env,
            TOLLWAY_CARGO_PROFILE: profile,
            PATH: `${cargoFolder}:${process.env.PATH}`,
          },
        },
      );
    },
  );
}

/** Prisma's client, from prisma/schema.prisma. */
export async function generateDatabaseClient() {
  await unlessFresh(
    { name: 'prisma', inputs: ['prisma', 'package-lock.json'], outputs: ['apps/api/src/generated/prisma'] },
    () =>
      runLong(
        'generating the database client',
        process.execPath,
        [nodeModule('prisma', 'build', 'index.js'), 'generate', '--schema', 'prisma/schema.prisma'],
        { cwd: inProject(), env: quietInstallEnv },
      ),
  );
}

/** Database client, schema, API and web page. */
export async function buildTypeScript() {
  await generateDatabaseClient();
  await unlessFresh(
    {
      name: 'typescript',
      inputs: [
        'package-lock.json',
        'tsconfig.json',
        'tsconfig.base.json',
        'prisma',
        'packages/schema',
        'packages/protocol',
        'apps/api',
        'packages/dataplane-agent/generated/agent.d.ts',
        'packages/dataplane-agent/generated/records.d.ts',
      ],
      outputs: ['packages/schema/dist/index.js', 'packages/protocol/dist/endpoints.js', 'apps/api/dist/server.js'],
    },
    async () => {
      await runLong('compiling TypeScript', process.execPath, [nodeModule('typescript', 'bin', 'tsc'), '-b'], {
        cwd: inProject(),
      });
      await runLong('bundling the API', process.execPath, [nodeModule('rolldown', 'bin', 'cli.mjs'), '--config'], {
        cwd: inProject('apps', 'api'),
      });
    },
  );
  await unlessFresh(
    {
      name: 'web',
      inputs: [
        'package-lock.json',
        'packages/schema',
        'packages/protocol',
        'apps/web',
        'scripts/first-load.mjs',
        'scripts/precompress.mjs',
      ],
      outputs: ['apps/web/dist/index.html'],
    },
    () =>
      runLong('building the web page', process.execPath, [nodeModule('vite', 'bin', 'vite.js'), 'build'], {
        cwd: inProject('apps', 'web'),
        // Set explicitly, as tests have another NODE_ENV, with which React's development build would be used.
        env: { ...process.env, NODE_ENV: 'production' },
      }),
  );
}

/** Builds everything that has changed. */
export async function build() {
  ensureNode();
  await ensureNodeModules();
  await buildAgent();
  await buildTypeScript();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await main(async () => {
    await build();
    return 0;
  });
}
