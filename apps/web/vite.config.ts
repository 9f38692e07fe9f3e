import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Where `npm run dev` finds a running API. */
const api = process.env.TOLLWAY_API ?? 'http://127.0.0.1:8080';

export default defineConfig({
  plugins: [react()],
  build: {
    target: 'es2023',
    // Inlined assets would need `data:` in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
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
