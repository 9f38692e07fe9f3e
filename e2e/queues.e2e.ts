import { expect } from '@playwright/test';
import type { Rest } from '../tests/network/rest.ts';
import { SERVER } from '../tests/network/router.ts';
import { sleep } from '../tests/network/wait.ts';
import { test } from './fixtures.ts';

const LIMIT_BITS = 4_000_000;

/** Bits per second that the queue let through over 4 s, up or down, by its own counter. */
async function measured(rest: Rest, id: string, half: 'up' | 'down'): Promise<number> {
  const look = async () => {
    const row = await rest.get('/queue/simple', id);
    return { at: performance.now(), bytes: Number(row.bytes?.split('/')[half === 'up' ? 0 : 1]) };
  };
  const before = await look();
  await sleep(4000);
  const after = await look();
  return ((after.bytes - before.bytes) * 8) / ((after.at - before.at) / 1000);
}

test('a queue added in the browser: error at the field, mended, and it holds its rate both ways', async ({
  ui,
  router,
}) => {
  const queues = await ui.open('/queue/simple');
  await expect(queues.row('laptop')).toHaveCount(1);
  const dialog = await queues.add('Simple Queue');
  await dialog.set('Name', 'office');
  await dialog.set('Target 1', '192.168.88.10');
  await dialog.set('Upload Max Limit', '4M');
  await dialog.set('Download Max Limit', 'four');
  // Room for 50 packets, 120 ms at this rate: a sender that this machine stops for a moment leaves no gap.
  await dialog.tab('Advanced');
  await dialog.set('Upload Queue Type', 'default');
  await dialog.set('Download Queue Type', 'default');
  await dialog.press('OK');
  await expect(dialog.field('Download Max Limit')).toHaveAttribute('aria-invalid', 'true');
  await expect(dialog.field('Download Max Limit')).toHaveAccessibleDescription(/./);
  await dialog.set('Download Max Limit', '4M');
  await dialog.press('OK');
  await dialog.closed();
  const row = queues.row('office');
  await expect(row).toHaveCount(1);
  const stored = (await router.rest.list('/queue/simple')).find((queue) => queue.name === 'office');
  expect(stored?.['max-limit']).toBe('4000000/4000000');
  const id = stored?.['.id'] ?? '';

  for (const half of ['up', 'down'] as const) {
    const offered = ['iperf3', '-c', SERVER, '-u', '-b', String(2 * LIMIT_BITS), '-l', '1172', '-t', '8'];
    // A sender or a reader that the machine stops for a moment spoils one run, not the next.
    await expect(async () => {
      const sender = router.host('lan').start(...offered, ...(half === 'down' ? ['-R'] : []));
      try {
        // The full bucket of the first moment has gone.
        await sleep(2000);
        const rate = await measured(router.rest, id, half);
        expect(rate, half).toBeGreaterThan(0.97 * LIMIT_BITS);
        expect(rate, half).toBeLessThan(1.02 * LIMIT_BITS);
        const column = half === 'up' ? 'Upload Rate' : 'Download Rate';
        expect(await queues.cell(row, column)).toMatch(/^(3\.9|4\.0) Mbps$/);
      } finally {
        // To its own end: the server takes the next one only when this one has said goodbye.
        await sender.ended();
      }
    }).toPass({ timeout: 120_000 });
  }
  await expect.poll(() => queues.number(row, 'Upload Dropped')).toBeGreaterThan(0);

  // Disabled it holds nothing.
  await queues.select(row);
  await queues.command('Disable').click();
  await expect(row).toContainText('X');
  await expect(() => {
    const free = router.host('lan').run('iperf3', '-c', SERVER, '-u', '-b', '8M', '-l', '1172', '-t', '2', '--json');
    expect(JSON.parse(free.stdout).end.sum.lost_percent).toBeLessThan(1);
  }).toPass({ timeout: 60_000 });
  await queues.select(row);
  await queues.command('Remove').click();
  await expect(row).toHaveCount(0);
});

test('the text below the hints is that of the hint as it is now', async ({ ui, router }) => {
  const { rest, url } = router;
  const menu = '/queue/simple';
  const id = await rest.add(menu, {
    name: 'hinted',
    target: '10.88.0.1/32',
    'limit-at': '5M/5M',
    'max-limit': '9M/9M',
  });
  await ui.page.goto(`${url}/queue/lint`);
  const whole = ui.page.locator('.whole-text');
  await expect(whole).toContainText('limit-at 5.0 Mbps has no effect');
  await rest.set(menu, id, { 'limit-at': '6M/6M' });
  await expect(whole).toContainText('limit-at 6.0 Mbps has no effect');
  await rest.remove(menu, id);
});
