import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Router } from './router.js';

let router: Router;
beforeEach(async () => {
  router = await Router.start();
});
afterEach(() => router.close());

const health = async () => {
  const { status, body } = await router.request('GET', '/healthz');
  return { status, body };
};
const change = () => router.rest('PATCH', '/system/identity', { name: `router-${Math.random()}` });

it('says that the data plane can store nothing, and when it can again', async () => {
  expect((await health()).status).toBe(200);
  const folder = join(router.directory, 'agent');
  writeFileSync(folder, '');
  expect(await health()).toMatchObject({
    status: 503,
    body: {
      concerns: 'data-folder',
      forwarding: true,
      problem: `The data plane cannot store a configuration: ${folder} is no folder.`,
      remedy: expect.stringMatching(/^Make it a folder/),
    },
  });
  rmSync(folder);
  expect((await health()).status).toBe(200);
  symlinkSync('/nowhere', folder);
  expect((await health()).status).toBe(503);
  rmSync(folder);
  mkdirSync(folder);
  expect((await health()).status).toBe(200);
});

it('says so, too, when the data plane has ended, which cannot start then', async () => {
  const folder = join(router.directory, 'agent');
  await router.peer?.stop();
  writeFileSync(folder, '');
  await expect.poll(health).toMatchObject({
    status: 503,
    body: {
      concerns: 'data-folder',
      forwarding: false,
      problem: `The data plane cannot store a configuration: ${folder} is no folder. It cannot start either as long as that is so, and nothing is forwarded.`,
    },
  });
});

it('says that no copies of the configuration are kept, and keeps them again by itself', async () => {
  const folder = join(router.directory, 'generations');
  rmSync(folder, { recursive: true });
  writeFileSync(folder, '');
  await change();
  await expect.poll(health, { timeout: 60_000 }).toMatchObject({
    status: 503,
    body: { concerns: 'data-folder', problem: expect.stringContaining(`cannot be kept in ${folder}`) },
  });
  rmSync(folder);
  await expect.poll(async () => (await health()).status, { timeout: 90_000 }).toBe(200);
  expect(readdirSync(folder).filter((name) => name.endsWith('.rows'))).toHaveLength(1);
});
