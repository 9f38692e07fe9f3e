import { expect } from '@playwright/test';
import type { Rest } from '../tests/network/rest.ts';
import { accessibilityViolations } from './accessibility.ts';
import { test } from './fixtures.ts';
import type { Dialog } from './page-objects.ts';

/** A line for each of `count` subscribers. */
function subscribers(count: number, upload = '5M'): string {
  const lines = Array.from({ length: count }, (_, at) => {
    const address = `10.${64 + Math.floor(at / 65_536)}.${Math.floor(at / 256) % 256}.${at % 256}`;
    return `sub-${at},${address},${upload},20M`;
  });
  return ['name,target,upload,download', ...lines].join('\n');
}

async function bring(rest: Rest, list: object): Promise<void> {
  const { status, body } = await rest.request('POST', '/api/v1/queues/import', list);
  expect(status, JSON.stringify(body)?.slice(0, 300)).toBe(200);
}

test('some hundred subscribers from a list: errors by line, a dry run, one revision, and back', async ({
  ui,
  router,
}) => {
  const { page } = ui;
  const count = async () => (await router.rest.list('/queue/simple')).length;
  const before = await count();
  const queues = await ui.open('/queue/simple');
  await queues.button('Import').click();
  const list = ui.window('Import Subscribers');
  const box = list.root.getByRole('textbox');
  const report = list.root.getByRole('status');
  await box.fill('one,10.64.0.1,5M,20M');
  // A list that was not put in is not lost by a slip.
  await list.root.getByRole('button', { name: 'Close' }).click();
  const question = page.getByRole('dialog', { name: 'Discard the changes in Import Subscribers?' });
  await question.getByRole('button', { name: 'Keep editing' }).click();
  await expect(box).toHaveValue('one,10.64.0.1,5M,20M');
  await box.fill(subscribers(300).replace('sub-7,10.64.0.7,5M', 'sub-7,10.64.0.7,five'));
  await list.button('Dry Run').click();
  await expect(report).toHaveText('1 line is wrong. Nothing can be applied until they are mended.');
  const wrong = list.root.getByRole('row', { name: /error sub-7/ });
  await expect(wrong.getByRole('gridcell').first()).toHaveText('9');
  await expect(list.root.getByText(/^Line 9, sub-7: .*optionally with/)).toBeVisible();
  await expect(list.button('Apply')).toBeDisabled();
  expect(await accessibilityViolations(page, '.window-active'), 'errors').toEqual([]);

  await box.fill(subscribers(300));
  // The list is locked during a dry run, so that the report is about the lines that Apply sends.
  let answer = () => {};
  const asked = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/queues/import', async (route) => {
    await asked;
    await route.continue();
  });
  await list.button('Dry Run').click();
  await expect(report).toHaveText('The router reads the list.');
  await expect(box).not.toBeEditable();
  await expect(list.root.getByRole('checkbox')).toBeDisabled();
  await expect(list.button('Open File')).toBeDisabled();
  answer();
  await expect(report).toHaveText('Would add 300 queues, in one revision.');
  await page.unroute('**/queues/import');
  await expect(box).toBeEditable();
  expect(await count()).toBe(before);
  await list.button('Apply').click();
  await expect(report).toHaveText(/^Revision \d+: added 300 queues\.$/);
  expect(await count()).toBe(before + 300);
  await box.fill(subscribers(300, '6M'));
  await list.button('Dry Run').click();
  await expect(report).toHaveText('Would change 300 queues, in one revision.');

  const undo = list.root.getByRole('button', { name: /^Undo revision/ });
  await undo.click();
  await expect(report).toHaveText(/^Revision \d+: removed 300 queues\.$/);
  expect(await count()).toBe(before);
  await expect(undo).toHaveCount(0);

  // An import is a change like another: the keys undo it and do it again, and the window knows.
  await list.button('Dry Run').click();
  await list.button('Apply').click();
  await expect(report).toHaveText(/^Revision \d+: added 300 queues\.$/);
  await expect(undo).toBeVisible();
  await list.root.getByRole('button', { name: 'Dry Run' }).focus();
  await page.keyboard.press('Control+z');
  await expect.poll(count).toBe(before);
  await expect(page.locator('.toasts')).toContainText('Undone: Imported subscribers: added 300 queues.');
  await expect(undo).toHaveCount(0);
  await page.keyboard.press('Control+y');
  await expect.poll(count).toBe(before + 300);
  await page.keyboard.press('Control+z');
  await expect.poll(count).toBe(before);
});

test('25,000 queues: the browser holds what it shows, as a list and as a tree', async ({ ui, router }) => {
  const { page } = ui;
  const csv = subscribers(25_000);
  await bring(router.rest, { csv });
  const queues = await ui.open('/queue/simple');
  await queues.toggleSize();
  await expect(queues.root.locator('.table-foot').last()).toContainText(/25 00\d items/);
  const rows = () => queues.grid.getByRole('row').count();
  expect(await rows()).toBeLessThan(100);
  await queues.grid.focus();
  await page.keyboard.press('End');
  await expect(queues.row('sub-24999')).toHaveCount(1);
  expect(await rows()).toBeLessThan(100);
  await queues.find('sub-12345');
  await expect(queues.row('sub-12345')).toHaveCount(1);
  await queues.find('');
  await queues.root.getByRole('button', { name: 'Tree', exact: true }).click();
  await expect(queues.row('sub-0')).toHaveCount(1);
  await queues.grid.focus();
  await page.keyboard.press('End');
  await expect(queues.row('sub-24999')).toHaveCount(1);
  expect(await rows()).toBeLessThan(100);
  await bring(router.rest, { csv: 'name,target\nlaptop,192.168.88.10', remove: true });
});

/** Labels of the fields of a dialog's tab. */
const labels = (dialog: Dialog) => dialog.root.locator('.field-label').allTextContents();

test('the dialog of a queue type shows the fields of its kind', async ({ ui, router }) => {
  const types = await ui.open('/queue/type');
  const dialog = await types.add('Queue Type');
  await dialog.set('Type Name', 'by-host');
  await dialog.set('Kind', 'pcq');
  await dialog.tab('Settings');
  expect(await labels(dialog)).toEqual(expect.arrayContaining(['Classifier', 'Rate']));
  expect(await labels(dialog)).not.toContain('Target');
  await dialog.tab('General');
  await dialog.set('Kind', 'fq-codel');
  await dialog.tab('Settings');
  expect(await labels(dialog)).toEqual(expect.arrayContaining(['Target', 'Interval', 'Quantum']));
  expect(await labels(dialog)).not.toContain('Classifier');
  await dialog.press('OK');
  await dialog.closed();
  await expect(types.row('by-host', 'fq-codel')).toHaveCount(1);
  expect((await router.rest.list('/queue/type')).find((row) => row.name === 'by-host')).toMatchObject({
    kind: 'fq-codel',
  });
  const interfaces = await ui.open('/queue/interface');
  await expect(interfaces.row('ether1')).toHaveCount(1);
});
