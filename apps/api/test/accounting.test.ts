import { afterEach, beforeEach, expect, it } from 'vitest';
import { localDay } from '../src/accounting/queue-days.js';
import { eventually } from './eventually.js';
import { LONG_WRITES, PASSWORD, Router } from './router.js';

let router: Router;
let id: string;
beforeEach(async () => {
  router = await Router.start(LONG_WRITES);
  id = (await router.rest('PUT', '/queue/simple', { name: 'office 1st "floor"', target: '10.9.9.2' })).id;
  count(0, 0);
});
afterEach(async () => {
  await router.close();
});

/** Counters of the queue in the data plane since its start or the last reset, bytes. */
function count(upload: number, download: number): Buffer {
  const record = (part: number, bytes: number) => {
    const buffer = Buffer.alloc(104);
    buffer.writeUInt32LE(Number.parseInt(id.slice(1), 16), 0);
    buffer.writeUInt8(part, 6);
    buffer.writeBigUInt64LE(BigInt(bytes), 8);
    buffer.writeBigUInt64LE(BigInt(bytes / 10), 16);
    return buffer;
  };
  if (router.peer === undefined) throw new Error('there is no peer');
  const before = router.peer.queues;
  router.peer.queues = Buffer.concat([record(0, upload), record(1, download)]);
  return before;
}

const get = (path: string) =>
  fetch(`${router.url}${path}`, {
    headers: { authorization: `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}` },
  });
const days = async (query = ''): Promise<Record<string, string>[]> => {
  const answer = await get(`/api/v1/queue-accounting${query}`);
  expect(answer.status).toBe(200);
  return answer.json() as Promise<Record<string, string>[]>;
};
const carried = async () => (await days()).map(({ upload, download, total }) => [upload, download, total]);

it('adds up what a queue carries, over resets of its counters and restarts of either side', async () => {
  expect(await days()).toEqual([]);
  count(1_000, 20_000);
  expect(await days()).toEqual([
    {
      '.id': id,
      menu: '/queue/simple',
      name: 'office 1st "floor"',
      day: localDay(new Date()),
      upload: '1000',
      download: '20000',
      total: '21000',
    },
  ]);
  count(1_500, 20_000);
  expect(await carried()).toEqual([['1500', '20000', '21500']]);

  // The counters are reset: what came before counts, to the last byte, and what they say afterwards, even if it is more.
  count(1_700, 25_000);
  if (router.peer !== undefined) {
    router.peer.onQueueReset = () => {
      count(2_000, 30_000);
      return count(0, 0);
    };
  }
  expect((await router.rest('POST', '/queue/simple/reset-counters', { numbers: id })).status).toBe(200);
  count(5_000, 40_000);
  expect(await carried()).toEqual([['7000', '70000', '77000']]);

  // The API is restarted, while the data plane goes on.
  await router.shut();
  count(5_100, 40_200);
  await router.open();
  await router.healthy();
  expect(await carried()).toEqual([['7100', '70200', '77300']]);

  // The data plane is restarted, and has counted more than before when it is asked.
  if (router.peer !== undefined) router.peer.pid += 1;
  await router.shut();
  count(6_000, 50_000);
  await router.open();
  await router.healthy();
  expect(await carried()).toEqual([['13100', '120200', '133300']]);

  // A queue that is gone keeps its days.
  await router.rest('DELETE', `/queue/simple/${id}`);
  expect(await carried()).toEqual([['13100', '120200', '133300']]);
});

it('tells a time, a queue, or a table', async () => {
  count(10, 20);
  await days();
  const today = localDay(new Date());
  expect(await days('?from=2020-01-01&to=2020-12-31')).toEqual([]);
  expect(await days(`?from=2020-01-01&to=${today}&queue=${encodeURIComponent(id)}`)).toHaveLength(1);
  expect(await days('?queue=*FFFFFF')).toEqual([]);
  const table = await get('/api/v1/queue-accounting?format=csv');
  expect(table.headers.get('content-type')).toContain('text/csv');
  expect(await table.text()).toBe(
    `day,id,menu,name,upload,download,total\r\n${today},${id},/queue/simple,"office 1st ""floor""",10,20,30\r\n`,
  );
  for (const [query, property] of [
    ['?from=yesterday', 'from'],
    ['?to=1.1.2026', 'to'],
    ['?from=2026-13-45', 'from'],
    ['?to=2026-02-30', 'to'],
    ['?from=2026-11-02&to=2026-11-01', 'from'],
    ['?queue=7', 'queue'],
    ['?format=xml', 'format'],
    ['?since=2026-11-01', 'unknown parameter since'],
    ['?from=2026-11-01&from=2026-11-02', 'from'],
  ]) {
    const answer = await get(`/api/v1/queue-accounting${query}`);
    expect(answer.status).toBe(400);
    expect(JSON.stringify(await answer.json())).toContain(property);
  }
});

it('gives metrics in the text format of Prometheus to who may read the router', async () => {
  count(10, 20);
  expect((await fetch(`${router.url}/metrics`)).status).toBe(401);
  // Scrapers may share a reading that is up to a second old.
  const answer = await eventually(async () => {
    const answer = await get('/metrics');
    expect(answer.status).toBe(200);
    expect(await answer.clone().text()).toMatch(/^tollway_queue_bytes_total\{.*\} 10$/m);
    return answer;
  });
  expect(answer.headers.get('content-type')).toContain('version=0.0.4');
  const text = await answer.text();
  const labels = (direction: string) =>
    `{menu="/queue/simple",queue="office 1st \\"floor\\"",direction="${direction}"}`;
  expect(text).toContain(`# TYPE tollway_queue_bytes_total counter\n`);
  expect(text).toContain(`tollway_queue_bytes_total${labels('upload')} 10\n`);
  expect(text).toContain(`tollway_queue_bytes_total${labels('download')} 20\n`);
  // Every line is a comment or a sample, and every family is reported once.
  const lines = text.trimEnd().split('\n');
  for (const line of lines) expect(line).toMatch(/^# (HELP|TYPE) \w+ .+$|^\w+(\{.*\})? -?[\d.e+-]+$/);
  const types = lines.filter((line) => line.startsWith('# TYPE'));
  expect(new Set(types).size).toBe(types.length);
});
