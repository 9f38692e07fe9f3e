import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Router } from './router.js';

let router: Router;
beforeAll(async () => {
  router = await Router.start();
});
afterAll(() => router.close());

const PROFILE = '/tool/profile';
const TRACE = '/tool/packet-trace';
const DRY = `${TRACE}/dry-run`;
const LINE = 'tcp 192.168.88.10:40000 -> 1.1.1.1:443 in ether1';

it.each<[string, string, unknown, RegExp]>([
  [PROFILE, 'cpu', 999_999_999, /999999999 is out of range \(0\.\.1023\)/],
  [PROFILE, 'cpu', 1_000, /no worker may run on core 1000; it accepts .*total or all/],
  [PROFILE, 'cpu', -1, /-1 is out of range/],
  [PROFILE, 'cpu', 1.5, /1\.5 is not an integer 0\.\.1023 or total or all/],
  [PROFILE, 'cpu', 'fast', /fast is not an integer 0\.\.1023 or total or all/],
  [PROFILE, 'cpu', '', /is not an integer 0\.\.1023 or total or all/],
  [PROFILE, 'cpu', null, /must be a text, a number/],
  [PROFILE, 'cpu', { a: 1 }, /must be a text, a number/],
  [PROFILE, 'cpu', 'x'.repeat(100_000), /^value of cpu: it has 100000 characters, and 8192 are accepted/],
  [PROFILE, 'cpu', 'x'.repeat(8_000), /is not an integer 0\.\.1023 or total or all/],
  [PROFILE, 'duration', '99999999999w', /is out of range \(1s\.\.1m\)/],
  [PROFILE, 'duration', 999_999_999, /is out of range \(1s\.\.1m\)/],
  [PROFILE, 'duration', '-1s', /is not a duration such as/],
  [PROFILE, 'duration', '0s', /is out of range \(1s\.\.1m\)/],
  [PROFILE, '.proplist', { a: 1 }, /give at most 256 names/],
  [TRACE, 'packets', 999_999_999, /999999999 is out of range \(1\.\.10000\)/],
  [TRACE, 'packets', 0, /0 is out of range \(1\.\.10000\)/],
  [TRACE, 'packets', -1, /-1 is out of range/],
  [TRACE, 'packets', 'many', /is not an integer 1\.\.10000/],
  [TRACE, 'duration', '1000w', /is out of range \(1s\.\.55s\)/],
  [TRACE, 'duration', 'long', /is not a duration such as/],
  [TRACE, '.proplist', { a: 1 }, /give at most 256 names/],
  [TRACE, '.proplist', 'x'.repeat(9_000), /8192 are accepted at most/],
  [TRACE, 'packet', 'x'.repeat(8_000), /^value of packet: .*500 characters/],
  [DRY, 'packet', `${LINE}${' '.repeat(500)}and much more`, /^value of packet: .*500 characters/],
  [DRY, 'packet', [LINE, 'x'.repeat(7_000)], /^value of packet: .*500 characters/],
  [DRY, 'packet', [LINE, 'x'.repeat(1_000_000)], /^value of packet: it has \d+ characters, and 8192 are accepted/],
  [DRY, 'packet', { a: 1 }, /must be a text, a number/],
  [DRY, 'packet-size', 999_999_999, /is out of range \(20\.\.65535/],
])('%s refuses a wrong %s (%#)', async (path, property, value, detail) => {
  const { status, error } = await router.rest('POST', path, { [property]: value });
  expect(error).toMatchObject({ error: 400, message: 'Bad Request' });
  expect(status).toBe(400);
  expect(error.property ?? property).toBe(property);
  expect(error.detail).toMatch(property);
  expect(error.detail).toMatch(detail);
  expect(error.detail?.length).toBeLessThan(500);
});

it.each([
  [TRACE, 'ttl', '3'],
  [TRACE, 'tcp-flags', 'syn'],
  [DRY, 'packets', '3'],
  [DRY, 'dropped', 'yes'],
])('%s refuses %s, with which it would do nothing', async (path, property, value) => {
  const { status, error } = await router.rest('POST', path, {
    ...(path === DRY && { packet: LINE }),
    [property]: value,
  });
  expect([status, error.property, error.detail]).toEqual([400, property, `unknown parameter ${property}`]);
});

it.each([['-1'], ['00'], ['abc'], ['1e3'], ['9'.repeat(40)], [''], ['1', '2']])(
  'a restore refuses %j and touches nothing',
  (...args) => {
    const folder = mkdtempSync(join(tmpdir(), 'tollway-restore-'));
    try {
      const program = fileURLToPath(new URL('../dist/restore.js', import.meta.url));
      const env = { PATH: process.env.PATH, TOLLWAY_DATA_DIR: folder };
      const { status, stderr } = spawnSync(process.execPath, [program, ...args], { env, encoding: 'utf8' });
      expect(stderr).toBe(
        `--restore takes the number of a revision, or nothing for the newest, not "${args.join(' ')}"\n`,
      );
      expect(status).toBe(2);
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
