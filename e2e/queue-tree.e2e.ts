import { expect, type Locator } from '@playwright/test';
import type { Rest } from '../tests/network/rest.ts';
import { SERVER } from '../tests/network/router.ts';
import { accessibilityViolations } from './accessibility.ts';
import { test } from './fixtures.ts';
import type { Console, Menu } from './page-objects.ts';

async function addQueue(queues: Menu, name: string, target: string, limit: string, parent?: string): Promise<void> {
  const dialog = await queues.add('Simple Queue');
  await dialog.set('Name', name);
  await dialog.set('Target 1', target);
  await dialog.set('Upload Max Limit', limit);
  await dialog.set('Download Max Limit', limit);
  await dialog.tab('Advanced');
  await dialog.set('Upload Queue Type', 'default');
  await dialog.set('Download Queue Type', 'default');
  if (parent !== undefined) await dialog.set('Parent', parent);
  await dialog.press('OK');
  await dialog.closed();
}

/** Names of the rows as the tree shows them, with their levels. */
function outline(queues: Menu): Promise<string[]> {
  return queues
    .row()
    .evaluateAll((rows) =>
      rows.map((row) => `${row.getAttribute('aria-level')} ${row.querySelector('.cell-tree')?.textContent ?? ''}`),
    );
}

const load = (row: Locator) => row.locator('.cell-marked').getAttribute('data-load');

async function parentOf(rest: Rest, menu: string, name: string): Promise<string | undefined> {
  return (await rest.list(menu)).find((row) => row.name === name)?.parent;
}

/** Picture points of a canvas in the colour of uploads: axes, lines to compare with and labels have others. */
const drawn = (canvas: Locator) =>
  canvas.evaluate((element: HTMLCanvasElement) => {
    const probe = new OffscreenCanvas(1, 1).getContext('2d');
    const { data = [] } = element.getContext('2d')?.getImageData(0, 0, element.width, element.height) ?? {};
    if (probe === null || data.length === 0) throw new Error('nothing can be drawn');
    const before = element.style.color;
    element.style.color = 'var(--tx)';
    probe.fillStyle = getComputedStyle(element).color;
    element.style.color = before;
    probe.fillRect(0, 0, 1, 1);
    const wanted = probe.getImageData(0, 0, 1, 1).data;
    let points = 0;
    for (let at = 0; at < data.length; at += 4) {
      // Of what is almost transparent the colour is not exact.
      const near = [0, 1, 2].every((way) => Math.abs((data[at + way] ?? 0) - (wanted[way] ?? 0)) < 12);
      if (near && (data[at + 3] ?? 0) > 32) points++;
    }
    return points;
  });

test('a parent with two children: load, graphs and bucket by real traffic', async ({ ui, router }) => {
  const { page } = ui;
  const queues = await ui.open('/queue/simple');
  await queues.toggleSize();
  await addQueue(queues, 'home', '192.168.88.0/24', '20M');
  await addQueue(queues, 'laptop-1', '192.168.88.10', '4M', 'home');
  await addQueue(queues, 'laptop-2', '192.168.88.11', '4M', 'home');
  await addQueue(queues, 'office', '192.168.99.0/24', '10M');
  await queues.root.getByRole('button', { name: 'Tree', exact: true }).click();
  await expect
    .poll(() => outline(queues))
    .toEqual(expect.arrayContaining(['1 home', '2 laptop-1', '2 laptop-2', '1 office']));
  expect(await accessibilityViolations(page), 'tree').toEqual([]);

  // Idle: empty. At its limit: full, while the parent is at a fifth.
  const child = queues.row('laptop-1');
  const parent = queues.row('home');
  await expect.poll(() => load(child)).toBe('low');
  const sender = router.host('lan').start('iperf3', '-c', SERVER, '-u', '-b', '8M', '-l', '1172', '-t', '25');
  try {
    await expect.poll(() => load(child)).toBe('high');
    expect(await load(parent)).toBe('low');
    await expect.poll(() => queues.cell(parent, 'Upload Rate')).toMatch(/^(3\.9|4\.0) Mbps$/);

    const dialog = await queues.edit(child, /^Simple Queue <laptop-1>/);
    await dialog.tab('Traffic');
    const rate = dialog.root.getByRole('figure', { name: 'Rate' });
    await expect(rate.locator('dd').first()).toHaveText(/^(3\.9|4\.0) Mbps$/);
    await expect(dialog.root.getByRole('figure', { name: 'Dropped' }).locator('dd').first()).toHaveText(/[1-9]/);
    await expect(dialog.root.getByRole('figure', { name: 'Longest wait' }).locator('dd').first()).toHaveText(/ms$/);

    await dialog.tab('Token Bucket');
    const words = dialog.root.locator('.token-bucket-text');
    await expect(words).toHaveText(/upload was [34]\.\d Mbps on average; the limit is 4\.0 Mbps/);
    const bound = dialog.root.getByRole('row', { name: /^Rate · T/ }).getByRole('cell');
    await expect(bound.nth(0)).toHaveText('404 kbit');
    await expect(bound.nth(2)).toHaveText('4.40 Mbit');
    const most = dialog.root
      .getByRole('row', { name: /^At most passed/ })
      .getByRole('cell')
      .nth(2);
    await expect.poll(async () => Number.parseFloat((await most.textContent()) ?? '')).toBeGreaterThan(3.8);
    // One packet of 1,200 bytes more is what a bucket may run into debt for.
    expect(Number.parseFloat((await most.textContent()) ?? '')).toBeLessThanOrEqual(4.42);
    for (const plot of await dialog.root.locator('canvas').all()) expect(await drawn(plot)).toBeGreaterThan(200);
    expect(await accessibilityViolations(page), 'token bucket').toEqual([]);
    await dialog.choose('Download');
    await expect(words).toHaveText(/download/);

    await dialog.tab('Days');
    await expect(dialog.root.getByRole('rowheader').first()).toHaveText(/^\d{4}-\d\d-\d\d$/, { timeout: 90_000 });
    await dialog.press('Cancel');

    const idle = await queues.edit(queues.row('office'), /^Simple Queue <office>/);
    await idle.tab('Token Bucket');
    await expect(idle.root.locator('.token-bucket-text')).toHaveText(/^No upload has passed for \d+ s/);
    const plots = await idle.root.locator('canvas').all();
    expect(plots).toHaveLength(4);
    // The bucket is full, and nothing passes.
    for (const plot of plots.slice(0, 3)) expect(await drawn(plot)).toBe(0);
    await expect.poll(() => drawn(plots[3] as Locator)).toBeGreaterThan(200);
    await idle.press('Cancel');
  } finally {
    await sender.ended();
  }
  await expect.poll(() => load(child)).toBe('low');
});

test('another parent by drag and by keyboard, undone; a circle is refused', async ({ ui, router }) => {
  const { page } = ui;
  const queues = await ui.open('/queue/simple');
  await queues.toggleSize();
  await addQueue(queues, 'floor', '192.168.77.0/24', '20M');
  await addQueue(queues, 'desk-1', '192.168.77.10', '4M', 'floor');
  await addQueue(queues, 'desk-2', '192.168.77.11', '4M', 'floor');
  await addQueue(queues, 'hall', '192.168.0.0/16', '10M');
  await queues.root.getByRole('button', { name: 'Tree', exact: true }).click();
  await expect
    .poll(() => outline(queues))
    .toEqual(expect.arrayContaining(['1 floor', '2 desk-1', '2 desk-2', '1 hall']));

  // Find shows what a row is below, and takes only what it has found.
  await queues.find('desk-1');
  await expect.poll(() => outline(queues)).toEqual(['1 floor', '2 desk-1']);
  const foot = queues.root.locator('.table-foot').last();
  await expect(foot).toHaveText(/^1 item out of/);
  await queues.select(queues.row('desk-1'));
  await page.keyboard.press('Control+a');
  await expect(foot).toContainText('(1 selected)');
  await queues.command('Disable').click();
  const state = async (name: string) =>
    (await router.rest.list('/queue/simple')).find((row) => row.name === name)?.disabled;
  await expect.poll(() => state('desk-1')).toBe('true');
  expect(await state('floor')).toBe('false');
  await page.keyboard.press('Control+z');
  await expect.poll(() => state('desk-1')).toBe('false');
  await queues.find('');

  // By drag below another queue, undone, and a circle refused before anything is sent.
  await queues.dragOnto(queues.row('desk-2'), queues.row('hall'));
  await expect.poll(() => parentOf(router.rest, '/queue/simple', 'desk-2')).toBe('hall');
  await expect.poll(() => outline(queues)).toEqual(expect.arrayContaining(['1 hall', '2 desk-2']));
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await expect.poll(() => parentOf(router.rest, '/queue/simple', 'desk-2')).toBe('floor');
  await expect.poll(() => outline(queues)).toContain('2 desk-2');
  await queues.dragOnto(queues.row('floor'), queues.row('desk-1'));
  await expect(page.getByText('Not moved: desk-1 is below floor')).toBeVisible();
  expect(await parentOf(router.rest, '/queue/simple', 'floor')).toBe('none');

  // By the keyboard: out of its parent, back below the row above; folded and unfolded.
  await queues.select(queues.row('desk-2'));
  await page.keyboard.press('Alt+ArrowLeft');
  await expect.poll(() => parentOf(router.rest, '/queue/simple', 'desk-2')).toBe('none');
  await expect.poll(() => outline(queues)).toContain('1 desk-2');
  await page.keyboard.press('Alt+ArrowRight');
  await expect.poll(() => parentOf(router.rest, '/queue/simple', 'desk-2')).toBe('floor');
  await queues.select(queues.row('floor'));
  await page.keyboard.press('ArrowLeft');
  await expect(queues.row('desk-1')).toHaveCount(0);
  await expect(queues.row('floor')).toHaveAttribute('aria-expanded', 'false');
  await page.keyboard.press('ArrowRight');
  await expect(queues.row('desk-1')).toHaveCount(1);
});

async function addRule(ui: Console, mark: string, protocol: string): Promise<void> {
  const mangle = await ui.open('/ip/firewall/mangle');
  const dialog = await mangle.add('Mangle Rule');
  await dialog.set('Chain', 'forward');
  await dialog.set('Protocol', protocol);
  await dialog.tab('Action');
  await dialog.set('Action', 'mark-packet');
  await dialog.set('New Packet Mark', mark);
  await dialog.press('OK');
  await dialog.closed();
  await expect(mangle.row(mark)).toHaveCount(1);
}

test('a mangle rule marks traffic, and the queue tree holds what is marked', async ({ ui, router }) => {
  await addRule(ui, 'pings', 'icmp');
  const tree = await ui.open('/queue/tree');
  const add = async (name: string, parent: string, mark?: string) => {
    const dialog = await tree.add('Queue');
    await dialog.set('Name', name);
    await dialog.set('Parent', parent);
    if (mark !== undefined) await dialog.set('Packet Marks 1', mark);
    await dialog.set('Max Limit', '10M');
    await dialog.press('OK');
    await dialog.closed();
  };
  await add('all', 'global');
  await add('icmp', 'all', 'pings');
  await expect.poll(() => outline(tree)).toEqual(['1 all', '2 icmp']);
  await expect.poll(() => router.host('lan').ping(SERVER, 3)).toBe(3);
  await expect.poll(() => tree.number(tree.row('icmp'), 'Packets')).toBeGreaterThanOrEqual(6);
  await expect.poll(() => tree.number(tree.row('all'), 'Packets')).toBeGreaterThanOrEqual(6);
  const mangle = await ui.open('/ip/firewall/mangle');
  await expect.poll(() => mangle.number(mangle.row('pings'), 'Packets')).toBeGreaterThanOrEqual(6);

  await ui.open('/tool/packet-trace');
  const trace = ui.window('Packet Trace');
  await trace.root.getByLabel('Packet', { exact: true }).fill(`icmp 192.168.88.10 → ${SERVER} in ether2`);
  await trace.button('Dry Run').click();
  const steps = trace.root.getByRole('region', { name: 'Steps' });
  const marking = steps.getByRole('row').filter({ hasText: 'gets packet mark pings' });
  await expect(marking.getByRole('link')).toHaveText(/^#0 forward: mark-packet/);
  await expect(steps.getByRole('link', { name: 'icmp', exact: true }).first()).toBeVisible();
});
