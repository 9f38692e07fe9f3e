import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { firstLoad, tooLarge } from '../../scripts/first-load.mjs';
import { precompress } from '../../scripts/precompress.mjs';
import { menuOutlines } from './menu-outlines.ts';

/** Where `npm run dev` finds a running API. */
const api = process.env.TOLLWAY_API ?? 'http://127.0.0.1:8080';

/** Fails a build whose first load is too large. */
const firstLoadLimit: Plugin = {
  name: 'first-load-limit',
  apply: 'build',
  writeBundle({ dir }) {
    const problem = dir === undefined ? undefined : tooLarge(firstLoad(dir));
    if (problem !== undefined) this.error(problem);
  },
};

/** Compresses what was built. */
const precompressed: Plugin = {
  name: 'precompressed',
  apply: 'build',
  writeBundle({ dir }) {
    if (dir !== undefined) precompress(dir);
  },
};

export default defineConfig({
  plugins: [react(), menuOutlines, firstLoadLimit, precompressed],
  build: {
    target: 'es2023',
    // Inlined assets would need `data:` in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // One file of 11 KiB: a window that is fetched later finds its style, in the order in which the files are imported.
    cssCodeSplit: false,
  },
  server: {
    proxy: {
      // The API refuses requests whose origin is not the host they ask for.
      '/api': { target: api, changeOrigin: false },
      '/rest': { target: api, changeOrigin: false },
      '/docs': { target: api, changeOrigin: false },
      '/live': { target: api, changeOrigin: false, ws: true },
    },
  },
});
