import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PASSWORD, Router } from './router.js';

/** Rows as the API lists them beside those of the database, which are what it starts with again. */

const RULES = '/ip/firewall/mangle';

let router: Router;
beforeAll(async () => {
  router = await Router.start();
});
afterAll(() => router.close());

const listed = async () =>
  (await router.rest('GET', `${RULES}?dynamic=false`)).rows.map((row) => [row['.id'] ?? '', row.comment ?? '']);

async function stored(): Promise<string[][]> {
  const rows = await router.db.configRow.findMany({ where: { menu: RULES }, orderBy: { rank: 'asc' } });
  return rows.map(({ id, comment }) => [`*${id.toString(16).toUpperCase()}`, comment ?? '']);
}

async function add(comment: string, before?: string): Promise<string> {
  const place = before === undefined ? {} : { 'place-before': before };
  return (await router.rest('PUT', RULES, { chain: 'forward', action: 'accept', comment, ...place })).id;
}

/** Rules among which there is no room for another one, before two that are as old as the first. */
async function crowded(): Promise<void> {
  const present = (await listed()).map(([id]) => id);
  if (present.length > 0) await router.rest('POST', `${RULES}/remove`, { '.id': present });
  await add('a');
  let last = await add('y');
  await add('z');
  for (let count = 0; count < 10; count += 1) last = await add(`x${count}`, last);
}

const admin = { authorization: `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}` };
const revisions = (method: string, path: string) =>
  router.request(method, `/api/v1/revisions${path}`, undefined, admin);
const names = async () => (await listed()).map(([, comment]) => comment).join(' ');
const revisionOf = ({ headers }: { headers: Headers }) => Number(headers.get('x-tollway-revision'));

describe('rows whose ranks are given anew', () => {
  it('have the order of the list in the database, which tells of the move and undoes it', async () => {
    await crowded();
    const ids = (await listed()).map(([id]) => id);
    const before = await names();
    const moved = await router.rest('POST', `${RULES}/move`, { numbers: ids.at(-2), destination: ids[1] });
    expect(moved.status).toBe(200);
    const after = 'a y x9 x8 x7 x6 x5 x4 x3 x2 x1 x0 z';
    expect(await names()).toBe(after);
    expect(await stored()).toEqual(await listed());
    const number = revisionOf(moved);
    expect((await revisions('GET', '')).rows[0]).toMatchObject({ revision: number, rows: 1, undo: '' });
    const undone = await revisions('POST', `/${number}/undo`);
    expect([undone.status, await names()]).toEqual([200, before]);
    const redone = await revisions('POST', `/${revisionOf(undone)}/undo`);
    expect([redone.status, await names()]).toEqual([200, after]);
  });

  it('are in memory what they are in the database, whatever is added, moved, changed and removed', async () => {
    // Most between the first ones, where there is no room, and of the last ones, which have ranks of rows that are anew.
    const step = fc.record({
      what: fc.constantFrom('move', 'move', 'move', 'add', 'change', 'remove'),
      row: fc.oneof(fc.constantFrom(-1, -2), fc.nat(11)),
      to: fc.oneof(fc.constantFrom(1, 2), fc.nat(11)),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (steps) => {
        await crowded();
        for (const [number, { what, row, to }] of steps.entries()) {
          const ids = (await listed()).map(([id]) => id);
          const one = ids.at(row % ids.length) ?? '';
          if (what === 'add') await add(`n${number}`, ids[to]);
          else if (what === 'move') await router.rest('POST', `${RULES}/move`, { numbers: one, destination: ids[to] });
          else if (what === 'change') await router.rest('PATCH', `${RULES}/${one}`, { comment: `c${number}` });
          else await router.rest('DELETE', `${RULES}/${one}`);
          expect(await listed()).toEqual(await stored());
        }
      }),
      { numRuns: Math.ceil(0.1 * (fc.readConfigureGlobal()?.numRuns ?? 100)) },
    );
  });
});
