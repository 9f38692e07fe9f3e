import { test as base } from '@playwright/test';
import { dispose, newRouter, PASSWORD, type Router } from '../tests/network/router.ts';
import { Console } from './page-objects.ts';

/** The router of the file whose tests run now. A worker goes on from file to file, and with it what it holds. */
interface Running {
  file: string;
  router: Router | undefined;
}

/**
 * `router`: the real stack with its lab, one for all tests of a file, so that no file finds the queues and rules of
 * another one. `ui`: a browser page of it, logged in.
 */
export const test = base.extend<{ router: Router; ui: Console }, { running: Running }>({
  running: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright wants the first argument destructured
    async ({}, use) => {
      const running: Running = { file: '', router: undefined };
      await use(running);
      await dispose(running.router);
    },
    { scope: 'worker', timeout: 360_000 },
  ],
  router: [
    async ({ running }, use, { file }) => {
      if (running.router === undefined || running.file !== file) {
        const before = running.router;
        running.router = undefined;
        await dispose(before);
        running.router = await newRouter().up();
        running.file = file;
      }
      await use(running.router);
    },
    { timeout: 360_000 },
  ],
  ui: async ({ page, router }, use) => {
    const ui = new Console(page, router.url);
    await ui.logIn(PASSWORD);
    await use(ui);
  },
});
