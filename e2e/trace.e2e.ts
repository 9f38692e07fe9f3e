import path from 'node:path';
import { expect, type Locator } from '@playwright/test';
import { PASSWORD, type Router, SERVER } from '../tests/network/router.ts';
import { accessibilityViolations } from './accessibility.ts';
import { test } from './fixtures.ts';
import { type AppWindow, Console } from './page-objects.ts';

const artifacts = path.join(import.meta.dirname, '../artifacts/screenshots');
const ACTIVE = '.window-active';
const COMMENT = 'no discard service';
const PACKET = `tcp 192.168.88.10:40000 → ${SERVER}:9 in ether2`;

/** A rule that stops the packet of these tests, above all others. */
async function forbid({ rest }: Router): Promise<string> {
  const [first] = (await rest.list('/ip/firewall/filter')).filter((row) => row.dynamic === 'false');
  return rest.add('/ip/firewall/filter', {
    chain: 'forward',
    protocol: 'tcp',
    'dst-port': '9',
    action: 'drop',
    log: 'yes',
    comment: COMMENT,
    'place-before': first?.['.id'] ?? '',
  });
}

/** Asks for the connection that the rule forbids. */
const knock = (router: Router) => router.host('lan').run('curl', '-sm', '1', `http://${SERVER}:9`);

const packets = ({ root }: AppWindow): Locator => root.getByRole('grid', { name: 'Packets' }).locator('tbody tr');
const steps = ({ root }: AppWindow): Locator => root.getByRole('region', { name: 'Steps' });

test('three clicks from the desktop say which rule drops a packet, and lead to it', async ({ ui, router }) => {
  const rule = await forbid(router);
  try {
    await ui.open('/tool/packet-trace');
    const trace = ui.window('Packet Trace');
    await trace.root.getByLabel('Packet', { exact: true }).fill(PACKET);
    await trace.button('Dry Run').click();
    await expect(steps(trace).getByRole('heading')).toContainText(/dropped: /);
    const link = steps(trace).getByRole('link', { name: COMMENT }).first();
    await expect(link).toBeVisible();
    await expect(trace.root.getByLabel('Dst. Port')).toHaveValue('9');
    expect(await accessibilityViolations(ui.page, ACTIVE)).toEqual([]);
    const before = await router.rest.get('/ip/firewall/filter', rule);
    expect(before.packets, 'nothing is counted').toBe('0');
    await link.click();
    await expect(ui.page.getByRole('dialog', { name: 'Firewall Rule' })).toBeVisible();
  } finally {
    await router.rest.remove('/ip/firewall/filter', rule);
  }
});

test('a line that says no packet is refused, and no trace runs by the words of the line before', async ({ ui }) => {
  await ui.open('/tool/packet-trace');
  const trace = ui.window('Packet Trace');
  const line = trace.root.getByLabel('Packet', { exact: true });
  for (const button of ['Dry Run', 'Start']) {
    await line.fill(PACKET);
    await line.fill('host 10.9.9.9 only');
    await trace.button(button).click();
    await expect(trace.root.getByRole('alert')).toContainText('host 10.9.9.9 only');
    await expect(trace.root.getByRole('status').filter({ hasText: 'Stopped' })).toBeVisible();
  }
});

test('a live trace that goes on after a restart of the API keeps its packets and says that some are missing', async ({
  ui,
  router,
}) => {
  const ping = () => router.host('lan').run('ping', '-c', '1', '-W', '1', SERVER);
  await ui.open('/tool/packet-trace');
  const trace = ui.window('Packet Trace');
  await trace.root.getByLabel('Protocol').fill('icmp');
  await trace.button('Start').click();
  await expect(trace.root.getByRole('status').filter({ hasText: 'Running' })).toBeVisible();
  const count = () => packets(trace).count();
  const more = (than: number) =>
    expect
      .poll(async () => {
        ping();
        return count();
      })
      .toBeGreaterThan(than);
  await more(3);
  const times = () => packets(trace).locator('td:first-child').allTextContents();
  const before = await times();
  process.kill(router.pid('api'), 'SIGKILL');
  await expect(ui.connection).not.toHaveText('live');
  await expect(ui.connection).toHaveText('live', { timeout: 180_000 });
  await expect(trace.root.getByText('The connection broke off once')).toBeVisible();
  await more(before.length + 1);
  expect((await times()).slice(0, before.length)).toEqual(before);
  expect(await accessibilityViolations(ui.page, ACTIVE)).toEqual([]);
  await trace.button('Stop').click();
});

test('a live trace shows dropped packets as they come, and a log line of one leads to its trace', async ({
  ui,
  router,
}) => {
  const rule = await forbid(router);
  try {
    await ui.open('/tool/packet-trace');
    const trace = ui.window('Packet Trace');
    await trace.root.getByLabel('Dst. Port').fill('9');
    await trace.root.getByLabel('Dropped only').check();
    await trace.button('Start').click();
    await expect(trace.root.getByRole('status').filter({ hasText: 'Running' })).toBeVisible();
    // A trace goes on with the fields that it was started with.
    await expect(trace.root.getByLabel('Dst. Port')).toBeDisabled();
    await expect(trace.root.getByLabel('Dropped only')).toBeDisabled();
    await expect
      .poll(async () => {
        knock(router);
        return packets(trace).count();
      })
      .toBeGreaterThan(0);
    const first = packets(trace).first();
    await expect(first).toContainText('ether2');
    await expect(first).toContainText(`${SERVER}:9`);
    await expect(first).toContainText('dropped');
    await first.click();
    await expect(steps(trace).getByRole('link', { name: COMMENT }).first()).toBeVisible();
    expect(await accessibilityViolations(ui.page, ACTIVE)).toEqual([]);
    await trace.button('Stop').click();
    await expect(trace.button('Start')).toBeFocused();
    await expect(trace.root.getByLabel('Dst. Port')).toBeEnabled();
    const seen = await packets(trace).count();
    knock(router);
    expect(await packets(trace).count(), 'stopped').toBe(seen);
    await trace.button('Close').click();

    const log = await ui.open('/log');
    await log.find(`${SERVER}:9`);
    await log.row(`${SERVER}:9`).first().click({ button: 'right' });
    await ui.page.getByRole('menuitem', { name: 'Trace this' }).click();
    await expect(steps(trace).getByRole('link', { name: COMMENT }).first()).toBeVisible();
  } finally {
    await router.rest.remove('/ip/firewall/filter', rule);
  }
});

test('an open connection is traced from its row, by the flow cache', async ({ ui }) => {
  const connections = await ui.open('/ip/firewall/connection');
  await connections.find(':5004');
  await connections.row('192.168.89.10', ':5004').click({ button: 'right' });
  await ui.page.getByRole('menuitem', { name: 'Trace this' }).click();
  const trace = ui.window('Packet Trace');
  await expect(steps(trace).getByRole('heading')).toContainText('forwarded');
  await trace.button('Start').click();
  await expect(packets(trace).filter({ hasText: 'fast' }).first()).toBeVisible();
});

test('a ping is traced by its identifier, from its connection and from the log; without one nothing is claimed', async ({
  ui,
  router,
}) => {
  const [first] = (await router.rest.list('/ip/firewall/filter')).filter((row) => row.dynamic === 'false');
  const rule = await router.rest.add('/ip/firewall/filter', {
    chain: 'forward',
    protocol: 'icmp',
    'in-interface': 'ether1',
    action: 'log',
    'log-prefix': 'pong',
    'place-before': first?.['.id'] ?? '',
  });
  const trace = ui.window('Packet Trace');
  const identifier = trace.root.getByLabel('Src. Port');
  const traceThis = () => ui.page.getByRole('menuitem', { name: 'Trace this' }).click();
  const ping = router.host('lan').start('ping', '-i', '1', SERVER);
  try {
    const connections = await ui.open('/ip/firewall/connection');
    await connections.find('icmp');
    await expect(connections.row('(icmp)').first()).toBeVisible();
    await expect(connections.row('(tcp)')).toHaveCount(0);
    await expect(connections.row('(udp)')).toHaveCount(0);
    await connections.row('192.168.88.10', SERVER).first().click({ button: 'right' });
    await traceThis();
    await expect(identifier).toHaveValue(/^\d+$/);
    await expect(steps(trace).getByRole('heading')).toContainText('forwarded');
    await expect(steps(trace)).toContainText('established');
    await trace.button('Close').click();

    const log = await ui.open('/log');
    await log.find('pong');
    await log.row('pong').last().click({ button: 'right' });
    await traceThis();
    await expect(identifier).toHaveValue(/^\d+$/);
    await expect(steps(trace).getByRole('heading')).toContainText('forwarded');
    await trace.button('Close').click();

    await router.rest.command('/log/info', {
      message:
        `forward: in:ether1 out:ether2, connection-state:established proto ICMP (type 0, code 0), ` +
        `${SERVER}->192.168.88.10, len 85`,
    });
    await log.find('len 85');
    await log.row('len 85').first().click({ button: 'right' });
    await traceThis();
    await expect(trace.root.getByRole('alert')).toContainText('ICMP identifier not known');
    await expect(identifier).toHaveAccessibleDescription(/identifier not known/);
    await expect(packets(trace)).toHaveCount(0);
  } finally {
    await ping.end('SIGKILL');
    await router.rest.remove('/ip/firewall/filter', rule);
  }
});

test('what is wrong with a packet is said beside the field', async ({ ui }) => {
  await ui.open('/tool/packet-trace');
  const trace = ui.window('Packet Trace');
  await trace.root.getByLabel('Packet', { exact: true }).fill('tcp 192.168.88.10');
  await trace.button('Dry Run').click();
  await expect(trace.root.getByRole('alert')).toContainText('is not a packet such as tcp');
  await expect(trace.root.getByLabel('Packet', { exact: true })).toHaveAccessibleDescription(/is not a packet/);
});

test('IP Settings say what is fast, what is slow, and why', async ({ ui }) => {
  const fast = await ui.open('/ip/settings/fast-path');
  await expect(fast.row('ipv4-flow-cache')).toHaveCount(1);
  await expect(fast.row('ipv4-fast-path')).toHaveCount(1);
  // Connection tracking is active: it is what closes the plain fast path.
  expect(await fast.cell(fast.row('ipv4-fast-path'), 'Blocked By')).not.toBe('');
  await expect.poll(() => fast.number(fast.row('ipv4-flow-cache'), 'Packets')).toBeGreaterThan(0);
  const slow = await ui.open('/ip/settings/slow-path');
  await expect(slow.grid.getByRole('row').nth(3)).toBeVisible();
  const total = async () => {
    const texts = await slow.grid.locator('[role="gridcell"][aria-colindex="3"]').allTextContents();
    return texts.reduce((sum, text) => sum + Number(text.replaceAll(/\s/g, '') || 0), 0);
  };
  await expect.poll(total).toBeGreaterThan(0);
});

test('Flow Offload in IP Settings: connections that the kernel forwards carry the flag H', async ({
  ui,
  router,
  page,
}) => {
  const settings = await ui.open('/ip/settings');
  const box = settings.root.getByLabel('Flow Offload', { exact: true });
  await box.check();
  await settings.button('Apply').click();
  const stream = router.host('lan').start('iperf3', '-c', SERVER, '-t', '60');
  try {
    const connections = await ui.open('/ip/firewall/connection');
    await connections.find(':5201');
    const flags = async () => {
      const rows = await connections.row(':5201').all();
      return Promise.all(rows.map((row) => connections.cell(row, 'Flags')));
    };
    await expect.poll(flags, { timeout: 60_000 }).toContainEqual(expect.stringContaining('H'));
    await page.screenshot({ path: path.join(artifacts, 'flow-offload.png') });
    const fast = await ui.open('/ip/settings/fast-path');
    await expect.poll(() => fast.number(fast.row('flow-offload'), 'Packets')).toBeGreaterThan(0);
    await page.screenshot({ path: path.join(artifacts, 'flow-offload-settings.png') });
  } finally {
    await stream.end('SIGKILL');
    await router.rest.command('/ip/settings/set', { 'flow-offload': 'no' });
  }
});

test('the dummy rule counts fasttracked packets at the top of the filter', async ({ ui }) => {
  const filter = await ui.open('/ip/firewall/filter');
  const dummy = filter.row('special dummy rule to show fasttrack counters');
  await expect(dummy).toHaveCount(1);
  const first = await filter.number(dummy, 'Packets');
  await expect.poll(() => filter.number(dummy, 'Packets')).toBeGreaterThan(first);
});

for (const colorScheme of ['light', 'dark'] as const) {
  for (const [width, height] of [
    [1440, 900],
    [390, 844],
  ] as const) {
    test(`the trace, ${colorScheme}, ${width} pixels wide`, async ({ browser, router }) => {
      const rule = await forbid(router);
      const narrow = width < 700;
      const context = await browser.newContext({
        reducedMotion: 'reduce',
        colorScheme,
        viewport: { width, height },
        hasTouch: narrow,
      });
      try {
        const page = await context.newPage();
        const ui = new Console(page, router.url);
        await ui.logIn(PASSWORD, { narrow });
        const shoot = async (name: string) => {
          expect(await accessibilityViolations(page, narrow ? undefined : ACTIVE), name).toEqual([]);
          await page.screenshot({ path: path.join(artifacts, `${name}-${colorScheme}-${width}.png`) });
        };
        const open = async (address: string) => {
          if (narrow) await page.getByRole('button', { name: 'Menus', exact: true }).tap();
          await ui.open(address);
        };
        await open('/tool/packet-trace');
        const trace = ui.window('Packet Trace');
        await trace.root.getByLabel('Packet', { exact: true }).fill(PACKET);
        await trace.button('Dry Run').click();
        await expect(steps(trace)).toBeVisible();
        await shoot('trace');
        await open('/ip/settings/slow-path');
        await shoot('slow-path');
      } finally {
        await context.close();
        await router.rest.remove('/ip/firewall/filter', rule);
      }
    });
  }
}
