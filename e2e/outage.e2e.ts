import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, type Locator } from '@playwright/test';
import { PASSWORD } from '../tests/network/router.ts';
import { test } from './fixtures.ts';
import { Console } from './page-objects.ts';

/** Text of a router in order; the machine may have more to do than that. */
const FINE = /All is well|fully busy/;

test('with the router gone nothing is well: banner, grey values; a list says that nothing comes, then comes', async ({
  ui,
  router,
}) => {
  const health = ui.page.getByRole('status', { name: 'State of the router' });
  await expect(health).toContainText(FINE);
  const tile = ui.page.locator('.tile').first();
  await expect(tile).toHaveCSS('filter', 'none');
  // Another page, which fetches the code of a window when it opens, not before; what is routed is not cached.
  const other = new Console(await ui.page.context().newPage(), ui.url);
  await other.page.addInitScript(() => Object.assign(window, { requestIdleCallback: () => 0 }));
  await other.page.route('**/assets/**', (route) => route.continue());
  await other.page.goto(ui.url);
  await expect(other.connection).toHaveText('live');
  const api = router.pid('api');
  // Connections stay up, and nothing comes over them any more.
  process.kill(api, 'SIGSTOP');
  try {
    const banner = ui.page.getByRole('alert').filter({ hasText: 'No answer from the router' });
    await expect(banner).toBeVisible({ timeout: 90_000 });
    await expect(health).not.toContainText('All is well');
    await expect(health).toContainText('does not answer');
    await expect(tile).toHaveCSS('filter', 'grayscale(1)');
    const addresses = await ui.open('/ip/address');
    await expect(addresses.root.getByText('Nothing comes from the router now; trying again.').first()).toBeVisible();
    await expect(addresses.root.getByText('Loading')).toHaveCount(0);
    await expect(other.page.getByRole('alert').filter({ hasText: 'No answer' })).toBeVisible({ timeout: 90_000 });
    const codeToCome = await other.open('/ip/address');
    await expect(codeToCome.root.getByText('Nothing comes from the router now; trying again.')).toBeVisible();
    process.kill(api, 'SIGCONT');
    await expect(addresses.row('192.168.88.1/24')).toHaveCount(1, { timeout: 90_000 });
    await expect(codeToCome.row('192.168.88.1/24')).toHaveCount(1, { timeout: 90_000 });
    await expect(banner).toHaveCount(0);
    await expect(health).toContainText(/All is well|Needs a look/, { timeout: 90_000 });
    await expect(tile).toHaveCSS('filter', 'none');
  } finally {
    process.kill(api, 'SIGCONT');
  }
});

test('with the packet engine silent the page says so, and what it counted is grey until it answers again', async ({
  ui,
  router,
}) => {
  const health = ui.page.getByRole('status', { name: 'State of the router' });
  await expect(health).toContainText(FINE);
  const tile = ui.page.locator('.tile').first();
  const agent = router.pid('agent');
  process.kill(agent, 'SIGSTOP');
  try {
    await expect(health).toContainText('The packet engine does not answer', { timeout: 270_000 });
    await expect(tile).toHaveCSS('filter', 'grayscale(1)');
    await ui.open('/interface');
    await expect(ui.page.locator('.split-below .chart').first()).toHaveCSS('filter', 'grayscale(1)');
    const connections = await ui.open('/ip/firewall/connection');
    await expect(connections.root.getByText('Not known now: the packet engine does not answer').first()).toBeVisible();
    process.kill(agent, 'SIGCONT');
    await expect(health).toContainText(/All is well|Needs a look/, { timeout: 180_000 });
    await expect(tile).toHaveCSS('filter', 'none');
  } finally {
    process.kill(agent, 'SIGCONT');
  }
});

test('who logs out in one tab is shown so in the others, and not that the router does not answer', async ({ ui }) => {
  const other = new Console(await ui.page.context().newPage(), ui.url);
  await other.page.goto(ui.url);
  await expect(other.tree).toBeVisible();
  await expect(other.connection).toHaveText('live');
  // Every word that stands over the page, also for a moment.
  await other.page.evaluate(() => {
    new MutationObserver(() => {
      const note = document.querySelector('.stale-note')?.textContent;
      if (note) document.documentElement.dataset.reported = note;
    }).observe(document.body, { subtree: true, childList: true });
  });
  await ui.page.getByLabel('User admin').click();
  await ui.page.getByRole('button', { name: 'Log out' }).click();
  const again = other.page.getByRole('dialog', { name: 'Log in again' });
  await expect(again).toBeVisible();
  await expect(other.page.locator('.link')).toHaveText('logged out');
  // Longer than a connection may be silent.
  await other.page.waitForTimeout(4_000);
  await expect(other.page.getByText('No answer from the router')).toHaveCount(0);
  expect(await other.page.evaluate(() => document.documentElement.dataset.reported)).toBeUndefined();
  await expect(other.page.locator('.link')).toHaveText('logged out');

  await again.getByLabel('Password').fill(PASSWORD);
  await again.getByRole('button', { name: 'Log in' }).click();
  await expect(again).toBeHidden();
  await expect(other.connection).toHaveText('live');
});

test('a tab does nothing with the rights of whom another tab has logged in, and keeps what is open in it', async ({
  ui,
  router,
}) => {
  const menu = '/ip/firewall/address-list';
  const user = await router.rest.add('/user', { name: 'bob', group: 'write', password: 'long enough' });
  const bob = new Console(await ui.page.context().newPage(), ui.url);
  const logIn = async ({ page }: Console, name: string, password: string) => {
    await page.getByLabel('User', { exact: true }).fill(name);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Log in' }).click();
  };
  await ui.page.getByLabel('User admin').click();
  await ui.page.getByRole('button', { name: 'Log out' }).click();
  await bob.page.goto(ui.url);
  await logIn(bob, 'bob', 'long enough');
  const lists = await bob.open(menu);
  const dialog = await lists.add('Firewall Address List');
  await dialog.set('Name', 'by-bob');
  await dialog.set('Address', '192.0.2.90');
  // From now on the cookie of both is admin's.
  await logIn(ui, 'admin', PASSWORD);
  await expect(ui.tree).toBeVisible();
  await dialog.press('OK');
  const again = bob.page.getByRole('dialog', { name: 'Log in again' });
  await expect(again).toBeVisible();
  const names = async () => (await router.rest.list(menu)).map((row) => row.list);
  expect(await names()).not.toContain('by-bob');
  await again.getByLabel('Password').fill('long enough');
  await again.getByRole('button', { name: 'Log in' }).click();
  await expect(again).toBeHidden();
  await expect(dialog.field('Name')).toHaveValue('by-bob');
  await dialog.press('OK');
  await dialog.closed();
  await expect.poll(names).toContain('by-bob');
  const [added] = (await router.rest.list(menu)).filter((row) => row.list === 'by-bob');
  await router.rest.remove(menu, added?.['.id'] ?? '');
  await bob.page.close();
  await router.rest.remove('/user', user);
});

/** Length of a long outage, seconds. */
const OUTAGE_S = 40;
const DAY_S = 24 * 3600;

/** Values that a graph reads out with the pointer at a part of its width: the time of day in seconds, and the first value. */
async function readOut(graph: Locator, part: number): Promise<{ readonly time: number; readonly value: string }> {
  const box = await graph.locator('.u-over').boundingBox();
  if (box === null) throw new Error('the graph is not on the screen');
  const page = graph.page();
  await page.mouse.move(box.x + 1 + part * (box.width - 2), box.y + box.height / 2);
  // The pointer is followed once a frame.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const time = (await graph.locator('.chart-time').textContent()) ?? '';
  const [hours = 0, minutes = 0, seconds = Number.NaN] = time.split(':').map(Number);
  const value = (await graph.locator('dd').first().textContent()) ?? '';
  return { time: (hours * 60 + minutes) * 60 + seconds, value };
}

test('after an outage graphs go on with what was before it and a gap, also on a page that is loaded anew', async ({
  ui,
  router,
}) => {
  test.setTimeout(600_000);
  const graph = ui.page.locator('figure.chart').first();
  const shownS = async (until: number) => (until - (await readOut(graph, 0)).time + DAY_S) % DAY_S;
  const newest = async () => (await readOut(graph, 1)).time;
  await expect.poll(async () => shownS(await newest()), { timeout: 270_000 }).toBeGreaterThan(30);
  const outage = await newest();
  const api = router.pid('api');
  process.kill(api, 'SIGSTOP');
  await ui.page.waitForTimeout(OUTAGE_S * 1000);
  process.kill(api, 'SIGKILL');
  await expect(ui.connection).toHaveText('live', { timeout: 180_000 });
  const sinceS = async () => ((await newest()) - outage + DAY_S) % DAY_S;
  await expect.poll(sinceS, { timeout: 180_000 }).toBeGreaterThanOrEqual(OUTAGE_S);
  // The shortest axis, of a minute, would begin before the outage, too; not as long before it.
  expect(await shownS(outage)).toBeGreaterThan(25);
  const values: string[] = [];
  for (let step = 0; step <= 20; step += 1) values.push((await readOut(graph, step / 20)).value);
  expect(values).toContain('–');
  expect(values.filter((value) => value !== '–').length).toBeGreaterThan(5);

  await ui.page.reload();
  await expect(ui.connection).toHaveText('live');
  await expect.poll(sinceS, { timeout: 90_000 }).toBeGreaterThanOrEqual(OUTAGE_S);
  await expect.poll(() => shownS(outage), { timeout: 90_000 }).toBeGreaterThan(25);
});

test('with a damaged database an open page and a new one say so and what to do; both go on by themselves', async ({
  ui,
  router,
}) => {
  test.setTimeout(600_000);
  const damaged = /is damaged.*--restore/;
  const addresses = await ui.open('/ip/address');
  const dialog = await addresses.add('Address');
  await dialog.set('Address', '192.168.99.1/24');
  const database = path.join(router.dataDir, 'tollway.db');
  const api = router.pid('api');
  process.kill(api, 'SIGSTOP');
  // What has been written last comes back first: the database is opened when it has changed.
  const whole = ['-wal', ''].flatMap((end) =>
    existsSync(database + end) ? [{ file: database + end, content: readFileSync(database + end) }] : [],
  );
  const other = await ui.page.context().newPage();
  try {
    for (const end of ['-wal', '-shm']) rmSync(database + end, { force: true });
    writeFileSync(database, 'x'.repeat(100_000));
    process.kill(api, 'SIGKILL');
    await expect(ui.page.getByRole('alert').filter({ hasText: damaged })).toBeVisible({ timeout: 360_000 });
    await expect(ui.page.getByText('No answer from the router')).toHaveCount(0);
    await expect(ui.page.getByRole('status', { name: 'State of the router' })).toContainText(damaged);
    await expect(dialog.field('Address')).toHaveValue('192.168.99.1/24');
    await other.goto(ui.url);
    await expect(other.getByRole('alert')).toHaveText(damaged);
    await expect(other.getByText('The router goes on forwarding by its last configuration')).toBeVisible();
    await expect(other.getByRole('button', { name: 'Log in' })).toHaveCount(0);
  } finally {
    for (const { file, content } of whole) {
      writeFileSync(`${file}.whole`, content, { mode: 0o600 });
      renameSync(`${file}.whole`, file);
    }
  }
  await expect(new Console(other, ui.url).tree).toBeVisible({ timeout: 180_000 });
  await other.close();
  await expect(ui.connection).toHaveText('live', { timeout: 180_000 });
  await expect(ui.page.locator('.stale-note')).toHaveCount(0);
  await dialog.set('Interface', 'ether2');
  await dialog.press('OK');
  await dialog.closed();
  await expect(addresses.row('192.168.99.1/24')).toHaveCount(1);
});
