import { test as base } from '@playwright/test';
import { dispose, newRouter, PASSWORD, type Router } from '../tests/network/router.ts';
import { Console } from './console.ts';

/**
 * `router`: the real stack with its lab, one for all tests of a file. `ui`: a browser page of it, logged in.
 */
export const test = base.extend<{ ui: Console }, { router: Router }>({
  router: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright wants the first argument destructured
    async ({}, use) => {
      const router = await newRouter().up();
      await use(router);
      await dispose(router);
    },
    { scope: 'worker', timeout: 120_000 },
  ],
  ui: async ({ page, router }, use) => {
    const ui = new Console(page, router.url);
    await ui.logIn(PASSWORD);
    await use(ui);
  },
});
