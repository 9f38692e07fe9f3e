import { afterAll, beforeAll, expect, test } from 'vitest';
import { countPackets } from './counter.ts';
import { dispose, newRouter, type Router, SERVER } from './router.ts';
import { sleep } from './wait.ts';

/** Forwarding goes on through changes of the configuration. */

let router: Router;

beforeAll(async () => {
  router = await newRouter().up();
});
afterAll(() => dispose(router));

test('adding and removing 100 rules during a UDP stream loses no more than a run without changes', async () => {
  const sent = countPackets(router.host('lan'), 'output', 'udp', 'dport', '5201');
  const arrived = countPackets(router.host('server'), 'prerouting', 'udp', 'dport', '5201');

  /** The share of datagrams of a steady UDP stream lan → server that do not arrive. */
  async function streamLoss(during: () => Promise<void>): Promise<number> {
    const before = [sent().packets, arrived().packets] as const;
    const stream = router.host('lan').start('iperf3', '-c', SERVER, '-u', '-b', '5M', '-l', '64', '-t', '8');
    await sleep(1500);
    await during();
    const { code, stdout, stderr } = await stream.ended();
    expect(code, stdout + stderr).toBe(0);
    const all = sent().packets - before[0];
    expect(all).toBeGreaterThan(10_000);
    return (all - (arrived().packets - before[1])) / all;
  }

  const control = await streamLoss(async () => {});
  const ids: string[] = [];
  const changed = await streamLoss(async () => {
    for (let index = 0; index < 100; index++) {
      const address = `10.${index}.0.0/16`;
      ids.push(
        await router.rest.add('/ip/firewall/filter', { chain: 'forward', 'src-address': address, action: 'drop' }),
      );
    }
    for (const id of ids) await router.rest.remove('/ip/firewall/filter', id);
  });
  expect(ids.length).toBe(100);
  // A thousandth of 8 s is 8 ms; 200 changes with a gap each would show.
  expect(changed).toBeLessThanOrEqual(control + 0.001);
});
