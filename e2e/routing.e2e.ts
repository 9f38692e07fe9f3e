import { expect } from '@playwright/test';
import { accessibilityViolations } from './accessibility.ts';
import { test } from './fixtures.ts';

test('a routing table gets a route and a rule in the page, and says why it is not removed', async ({ ui, router }) => {
  const tables = await ui.open('/routing/table');
  await expect(tables.row('main')).toHaveCount(1);
  let dialog = await tables.add('Routing Table');
  await dialog.set('Name', 'main');
  await dialog.press('OK');
  await expect(dialog.root.getByRole('alert').first()).toContainText(/already have routing table/i);
  await dialog.set('Name', 'isp2');
  await dialog.press('OK');
  await dialog.closed();
  const table = tables.row('isp2');
  await expect(table).toHaveCount(1);
  expect(await accessibilityViolations(ui.page, '.window-active')).toEqual([]);

  // The rules are the other tab of the window.
  const rules = await ui.open('/routing/rule');
  dialog = await rules.add('Routing Rule');
  await dialog.set('Src. Address', '192.168.88.0/24');
  await dialog.press('OK');
  await expect(dialog.root.getByRole('alert').first()).toContainText(/table is required/i);
  await dialog.set('Table', 'isp2');
  await dialog.set('Min. Prefix', '0');
  await dialog.press('OK');
  await dialog.closed();
  const rule = rules.row('192.168.88.0/24');
  expect(await rules.cell(rule, 'Action')).toBe('lookup');
  expect(await rules.cell(rule, 'Table')).toBe('isp2');

  const routes = await ui.open('/ip/route');
  dialog = await routes.add('Route');
  await dialog.root.getByRole('button', { name: 'Set Gateway', exact: true }).click();
  await dialog.set('Gateway 1', '192.168.88.10@nowhere');
  await dialog.set('Routing Table', 'isp2');
  await dialog.press('OK');
  await expect(dialog.root.getByRole('alert').first()).toContainText(/nowhere is neither an address nor one of/);
  await dialog.set('Gateway 1', '192.168.88.10@main');
  await dialog.press('OK');
  await dialog.closed();
  const route = routes.row('192.168.88.10@main');
  expect(await routes.cell(route, 'Routing Table')).toBe('isp2');
  await expect
    .poll(async () => (await router.rest.list('/ip/route')).find((row) => row['routing-table'] === 'isp2')?.active)
    .toBe('true');

  await ui.open('/routing/table');
  await tables.select(table);
  await tables.command('Remove').click();
  await expect(ui.page.getByText('in use by').first()).toBeVisible();
});
