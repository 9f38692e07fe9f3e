import { defineConfig } from 'rolldown';

/**
 * One file for the API and what it imports, as a start otherwise spends a third of its processor time on finding and linking
 * some 1,500 modules (docs/adr/0020-one-file.md).
 */
export default defineConfig({
  input: { server: 'src/server.ts', restore: 'src/restore.ts' },
  platform: 'node',
  tsconfig: false,
  resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
  // Native addons, and a package that reads files beside its own modules.
  external: [/^@libsql\/linux-/, 'libsql', '@node-rs/argon2', 'msgpackr-extract', '@fastify/swagger-ui'],
  output: { dir: 'dist', format: 'esm', chunkFileNames: '[name].js' },
});
