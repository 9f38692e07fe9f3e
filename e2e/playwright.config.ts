import path from 'node:path';
import { defineConfig } from '@playwright/test';

/** Real Chromium (the system's) against the real stack with the lab's traffic. */
export default defineConfig({
  testDir: import.meta.dirname,
  testMatch: '*.e2e.ts',
  outputDir: path.join(import.meta.dirname, '../artifacts/playwright'),
  // Each has a router and a lab of its own, and waits for one of them half of the time.
  workers: 2,
  // Deadlines only catch what hangs: the machine may be busy with other things.
  timeout: 360_000,
  expect: { timeout: 45_000 },
  reporter: [['list']],
  use: {
    browserName: 'chromium',
    viewport: { width: 1440, height: 900 },
    actionTimeout: 60_000,
    screenshot: 'only-on-failure',
    // A window that fades in has not yet the contrast that it will have.
    contextOptions: { reducedMotion: 'reduce' },
    launchOptions: {
      // Chromium without the parts that draw on a screen: it loads a page in half the time.
      executablePath: process.env.TOLLWAY_CHROMIUM ?? '/usr/bin/chromium-headless-shell',
      // The tests run as root, for the lab; Chromium's sandbox does not.
      args: ['--no-sandbox'],
    },
  },
});
