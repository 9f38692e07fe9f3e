import { expect } from '@playwright/test';
import { accessibilityViolations } from './accessibility.ts';
import { test } from './fixtures.ts';

test('messages go to the buffer of an action by a rule of its topics, and Clear forgets them', async ({
  ui,
  router,
}) => {
  const actions = await ui.open('/system/logging/action');
  for (const name of ['memory', 'disk', 'echo', 'remote']) await expect(actions.row(name).first()).toBeVisible();
  const action = await actions.add('Log Action');
  await action.set('Name', 'scripts');
  await action.set('Type', 'memory');
  await action.set('Lines', '20');
  // Properties of other targets are not shown.
  await expect(action.field('Remote Port')).toHaveCount(0);
  await action.press('OK');
  await action.closed();

  const rules = await ui.open('/system/logging');
  const rule = await rules.add('Log Rule');
  await rule.root.getByRole('checkbox', { name: /^script:/ }).click();
  const debug = rule.root.getByRole('checkbox', { name: /^debug:/ });
  await debug.click();
  await debug.click();
  await rule.set('Prefix', 'robot');
  await rule.set('Regex', '(');
  await rule.set('Action', 'scripts');
  await rule.press('OK');
  await expect(rule.root.getByRole('alert').first()).toContainText('regular expression');
  await rule.set('Regex', '^good (morning|evening)$');
  await rule.press('OK');
  await rule.closed();
  await expect(rules.row('!debug')).toContainText('script,!debug');
  expect(await accessibilityViolations(ui.page, '.window-active')).toEqual([]);

  const say = (severity: string, message: string) => router.rest.command(`/log/${severity}`, { message });
  await say('info', 'good morning');
  await say('debug', 'good evening');
  await say('info', 'good night');
  const log = await ui.open('/log');
  const row = log.row('robot: good morning');
  await expect(row).toHaveCount(1);
  expect(await log.cell(row, 'Buffer')).toBe('scripts');
  expect(await log.cell(log.row('good night'), 'Buffer')).toBe('memory');
  await expect(log.row('good evening')).toHaveCount(0);

  // Default rows stay.
  await ui.open('/system/logging/action');
  await actions.select(actions.row('scripts'));
  await actions.command('Clear').click();
  await ui.bringUp('Log');
  await expect(row).toHaveCount(0);
  await expect(log.row('good night')).toHaveCount(1);
  await ui.bringUp('Logging');
  await actions.select(actions.row('memory').first());
  await expect(actions.command('Remove')).toBeDisabled();
});
