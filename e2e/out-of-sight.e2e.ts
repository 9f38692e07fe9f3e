import { expect } from '@playwright/test';
import { test } from './fixtures.ts';

const LISTS = '/ip/firewall/address-list';
const SIMPLE = '/queue/simple';
const ROWS = 300;

test('the comment of a row that is scrolled out of sight is asked for before it can be replaced; all of them are copied', async ({
  ui,
  router,
}) => {
  const { page } = ui;
  await router.rest.request('PUT', `/rest${LISTS}`, [
    { list: 'near', address: '10.39.0.1' },
    ...Array.from({ length: ROWS }, (_, at) => ({
      list: 'far',
      address: `10.40.${Math.floor(at / 100)}.${(at % 100) + 1}`,
      comment: `b${at}`,
    })),
  ]);
  const lists = await ui.open(LISTS);
  await lists.find('far');
  // The list returns to its top when the search takes effect.
  await expect(lists.root).toContainText(/300 items out of \d+/);
  const first = lists.row('10.40.0.1').first();
  await lists.select(first);
  // Other rows are loaded in its place. A list that is still being laid out does not scroll.
  await expect(async () => {
    await page.mouse.wheel(0, 50_000);
    await expect(lists.row('10.40.2.100').first()).toBeVisible({ timeout: 2_000 });
  }).toPass({ timeout: 90_000 });
  await expect(first).toBeHidden();

  const dialog = page.getByRole('dialog', { name: 'Comment' });
  const field = dialog.getByLabel('Comment', { exact: true });
  const asked = `**/rest${LISTS}/print`;
  await page.route(asked, (route) => route.abort());
  await page.keyboard.press('Control+m');
  await expect(dialog.getByRole('alert')).toContainText('are not known');
  await expect(field).not.toHaveAttribute('placeholder');
  await page.keyboard.type('typed unseen');
  await page.keyboard.press('Enter');
  await expect(field).toHaveValue('');
  await expect(dialog.getByRole('alert')).toBeVisible();

  let go = () => {};
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  await page.unroute(asked);
  await page.route(asked, async (route) => {
    await held;
    await route.continue();
  });
  await dialog.getByRole('button', { name: 'Try Again' }).click();
  await expect(dialog.getByRole('status')).toContainText('Asking the router');
  await expect(field).toHaveJSProperty('readOnly', true);
  go();
  await expect(field).toHaveValue('b0');
  await expect(field).toHaveJSProperty('readOnly', false);
  await field.fill('mine');
  await page.keyboard.press('Enter');
  await expect(dialog).toBeHidden();
  expect((await router.rest.list(LISTS)).filter(({ comment }) => comment === 'mine')).toHaveLength(1);

  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.keyboard.press('Control+a');
  await expect(lists.root).toContainText('300 selected');
  await page.keyboard.press('Control+c');
  await expect(page.locator('.toasts')).toContainText('Copied 300 items.');
  const lines = (await page.evaluate(() => navigator.clipboard.readText())).split('\n');
  expect(lines).toHaveLength(ROWS + 1);
  expect(lines[1]).toContain('10.40.0.1');
  expect(lines.at(-1)).toContain('10.40.2.100');

  await page.keyboard.press('Control+m');
  await expect(field).toHaveAttribute('placeholder', 'different comments');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Delete');
  await page
    .getByRole('dialog', { name: /^Remove 300 items/ })
    .getByRole('button', { name: /^Remove/ })
    .click();
  await expect(lists.row('far')).toHaveCount(0);
});

test('Set parent begins with the parent of a row, also when it is scrolled out of sight', async ({ ui, router }) => {
  const { page } = ui;
  await router.rest.request('PUT', `/rest${SIMPLE}`, [
    { name: 'above', target: '10.41.0.0/16' },
    ...Array.from({ length: ROWS }, (_, at) => ({
      name: `far${at}`,
      target: `10.41.${Math.floor(at / 100)}.${(at % 100) + 1}`,
      parent: 'above',
    })),
  ]);
  const queues = await ui.open(SIMPLE);
  const row = queues.row('far0').first();
  await queues.select(row);
  await page.mouse.wheel(0, 5000);
  await expect(row).toBeHidden();
  await queues.root.getByRole('button', { name: 'All commands' }).click();
  await page.getByRole('menuitem', { name: 'Set parent' }).click();
  const dialog = page.getByRole('dialog', { name: 'Set Parent' });
  await expect(dialog.getByLabel('Parent', { exact: true })).toHaveValue('above');
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
});

test('End and Home bring the row that they select into view, however tall the rows above turn out to be', async ({
  ui,
  router,
}) => {
  const names = Array.from({ length: ROWS }, (_, at) => `tall${String(at).padStart(3, '0')}`);
  await router.rest.request('PUT', `/rest${SIMPLE}`, [
    { name: 'short', target: '10.42.0.1' },
    ...names.map((name, at) => ({
      name,
      target: `10.41.${Math.floor(at / 200)}.${(at % 200) + 1}`,
      comment: `of ${name}`,
    })),
  ]);
  const queues = await ui.open(SIMPLE);
  await queues.find('tall');
  await expect(queues.root).toContainText(/300 items out of \d+/);
  await queues.select(queues.row('tall000').first());
  await ui.page.keyboard.press('End');
  const last = queues.row('tall299').first();
  await expect(last).toHaveAttribute('aria-selected', 'true');
  await expect(last.getByText('10.41.1.100/32')).toBeInViewport({ ratio: 1 });
  await ui.page.keyboard.press('Home');
  await expect(queues.row('tall000').first().getByText('10.41.0.1/32')).toBeInViewport({ ratio: 1 });
  // A title that was clicked leaves the keys that go to rows to the rows.
  await queues.grid.getByRole('columnheader', { name: 'Name' }).getByRole('button').click();
  await expect(queues.grid.getByRole('columnheader', { name: 'Name' })).toHaveAttribute('aria-sort', 'ascending');
  await ui.page.keyboard.press('End');
  await expect(last).toHaveAttribute('aria-selected', 'true');
  await expect(last.getByText('10.41.1.100/32')).toBeInViewport({ ratio: 1 });
  await expect(queues.grid).toBeFocused();
});
