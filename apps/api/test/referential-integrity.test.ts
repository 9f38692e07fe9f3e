import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Client } from './live-client.js';
import { Router } from './router.js';

/** Tests that referenced rows cannot be removed: a rule that is left out drops nothing. */

const FILTER = '/ip/firewall/filter';
const MANGLE = '/ip/firewall/mangle';
const LISTS = '/interface/list';

let router: Router;
beforeEach(async () => {
  router = await Router.start();
});
afterEach(() => router.close());

const add = async (menu: string, body: Record<string, string>): Promise<string> => {
  const answer = await router.rest('PUT', menu, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.id;
};
const invalid = async (menu: string, id: string) => (await router.rest('GET', `${menu}/${id}`)).item.invalid;

describe('an interface list', () => {
  it('that a rule names is not removed; the answer names the rule', async () => {
    const list = await add(LISTS, { name: 'guests' });
    const rule = await add(FILTER, {
      chain: 'forward',
      action: 'drop',
      'in-interface-list': '!guests',
      comment: 'no guests',
    });
    const revision = router.peer?.revision;
    for (const answer of [
      await router.rest('DELETE', `${LISTS}/${list}`),
      await router.rest('POST', `${LISTS}/remove`, { numbers: 'guests' }),
    ]) {
      expect(answer.status).toBe(400);
      expect(answer.error.message).toBe('Bad Request');
      expect(answer.error.detail).toBe(
        `failure: interface list guests is in use by ${FILTER} ${rule} (chain forward, no guests); change that first`,
      );
    }
    expect(router.peer?.revision).toBe(revision);
    expect(await invalid(FILTER, rule)).toBe('false');
    await router.rest('DELETE', `${FILTER}/${rule}`);
    expect((await router.rest('DELETE', `${LISTS}/${list}`)).status).toBe(204);
  });

  it('names all rows that use it, up to five', async () => {
    const list = await add(LISTS, { name: 'guests' });
    await add(LISTS, { name: 'all-guests', include: 'guests' });
    const member = await add('/interface/list/member', { list: 'guests', interface: 'ether1' });
    for (const last of [1, 2, 3, 4, 5]) {
      await add(FILTER, {
        chain: 'forward',
        action: 'drop',
        'src-address': `10.0.0.${last}`,
        'in-interface-list': '!guests',
      });
    }
    const { error } = await router.rest('DELETE', `${LISTS}/${list}`);
    expect(error.detail).toContain('/interface/list all-guests');
    expect(error.detail).toContain(`/interface/list/member ${member}`);
    expect(error.detail).toMatch(/ and 2 more; change those first$/);
  });

  it('members may come and go; a drop that asks for a list without any is flagged and raises the alarm', async () => {
    await add(LISTS, { name: 'guests' });
    await add(LISTS, { name: 'visitors', include: 'guests' });
    const member = await add('/interface/list/member', { list: 'guests', interface: 'ether1' });
    const rule = await add(FILTER, { chain: 'forward', action: 'drop', 'in-interface-list': 'visitors' });
    const others = [
      await add(FILTER, { chain: 'forward', action: 'drop', 'in-interface-list': '!visitors' }),
      await add(FILTER, { chain: 'forward', action: 'drop', 'out-interface-list': 'none' }),
    ];
    const dropping = () => router.peer?.active?.filter.find(({ name }) => name === 'forward')?.rules.length;
    const client = await Client.open(router.url);
    client.send({ op: 'subscribe', id: 1, topic: 'status' });
    const alarmed = (texts: readonly string[]) =>
      client.next(({ op, alarms }) => op === 'status' && JSON.stringify(alarms) === JSON.stringify(texts));
    await alarmed([]);
    const alarm =
      `A rule with action drop cannot work and lets packets pass: ${FILTER} ${rule} (chain forward): ` +
      'in-interface-list: interface list visitors has no members.';
    const empty = async () => {
      await alarmed([alarm]);
      expect(await invalid(FILTER, rule)).toBe('true');
      for (const other of others) expect(await invalid(FILTER, other)).toBe('false');
      expect(dropping()).toBe(2);
    };
    const filled = async () => {
      await alarmed([]);
      expect(await invalid(FILTER, rule)).toBe('false');
      expect(dropping()).toBe(3);
    };
    expect(dropping()).toBe(3);
    await router.rest('PATCH', `/interface/list/member/${member}`, { disabled: 'true' });
    await empty();
    await router.rest('PATCH', `/interface/list/member/${member}`, { disabled: 'false' });
    await filled();
    await router.rest('DELETE', `/interface/list/member/${member}`);
    await empty();
    await add('/interface/list/member', { list: 'guests', interface: 'ether2' });
    await filled();
    client.socket.close();
  });

  it('can be renamed: rules follow', async () => {
    const list = await add(LISTS, { name: 'guests' });
    const rule = await add(FILTER, { chain: 'forward', action: 'drop', 'in-interface-list': '!guests' });
    expect((await router.rest('PATCH', `${LISTS}/${list}`, { name: 'visitors' })).status).toBe(200);
    const { item } = await router.rest('GET', `${FILTER}/${rule}`);
    expect(item).toMatchObject({ 'in-interface-list': '!visitors', invalid: 'false' });
  });
});

describe('a mark', () => {
  const giving = { chain: 'prerouting', action: 'mark-packet', 'new-packet-mark': 'bad' };

  it('that a rule asks for goes with its last giver only when nobody asks any more', async () => {
    const first = await add(MANGLE, { ...giving, protocol: 'udp' });
    const last = await add(MANGLE, giving);
    const rule = await add(FILTER, { chain: 'forward', action: 'drop', 'packet-mark': 'bad' });
    expect((await router.rest('DELETE', `${MANGLE}/${first}`)).status).toBe(204);
    const refused = `failure: packet mark bad is in use by ${FILTER} ${rule} (chain forward); change that first`;
    expect((await router.rest('DELETE', `${MANGLE}/${last}`)).error.detail).toBe(refused);
    const renamed = await router.rest('PATCH', `${MANGLE}/${last}`, { 'new-packet-mark': 'worse' });
    expect(renamed).toMatchObject({ status: 400, body: { detail: refused } });
    const other = await router.rest('PATCH', `${MANGLE}/${last}`, { action: 'accept', '!new-packet-mark': '' });
    expect(other).toMatchObject({ status: 400, body: { detail: refused } });
    // To switch a rule off is to say what is wanted.
    expect((await router.rest('PATCH', `${MANGLE}/${last}`, { disabled: 'true' })).status).toBe(200);
    await router.rest('PATCH', `${FILTER}/${rule}`, { 'packet-mark': 'worse' });
    expect((await router.rest('DELETE', `${MANGLE}/${last}`)).status).toBe(204);
  });

  it('of a queue and of connections too', async () => {
    const packets = await add(MANGLE, giving);
    const connections = await add(MANGLE, {
      chain: 'prerouting',
      action: 'mark-connection',
      'new-connection-mark': 'slow',
    });
    await add('/queue/simple', { name: 'q', target: '10.0.0.1/32', 'packet-marks': 'other,bad', 'max-limit': '1M/1M' });
    const rule = await add(MANGLE, { ...giving, 'new-packet-mark': 'x', 'connection-mark': '!slow' });
    expect((await router.rest('DELETE', `${MANGLE}/${packets}`)).error.detail).toMatch(
      /bad is in use by \/queue\/simple q;/,
    );
    expect((await router.rest('DELETE', `${MANGLE}/${connections}`)).error.detail).toContain(
      `connection mark slow is in use by ${MANGLE} ${rule} (chain prerouting)`,
    );
  });
});

describe('an address list without entries', () => {
  it('still holds for the rules that name it: it matches nothing, and !list everything', async () => {
    const entry = await add('/ip/firewall/address-list', { list: 'office', address: '10.0.0.1' });
    const rule = await add(FILTER, { chain: 'forward', action: 'drop', 'src-address-list': '!office' });
    expect((await router.rest('DELETE', `/ip/firewall/address-list/${entry}`)).status).toBe(204);
    expect(await invalid(FILTER, rule)).toBe('false');
    const { active } = router.peer ?? {};
    expect(active?.['address-lists']).toEqual([{ name: 'office', entries: [] }]);
    expect(active?.filter.find(({ name }) => name === 'forward')?.rules).toMatchObject([
      { matchers: [{ kind: 'src-address-list', list: 0, negate: true }], action: { kind: 'drop' } },
    ]);
  });
});

describe('a drop that cannot work all the same', () => {
  it('is flagged, and raises an alarm on the dashboard and in the log until it can', async () => {
    await add(LISTS, { name: 'guests' });
    const rule = await add(FILTER, { chain: 'forward', action: 'drop', 'in-interface-list': 'guests', comment: 'out' });
    await add(FILTER, { chain: 'forward', action: 'accept', 'in-interface-list': 'guests' });
    // As an earlier version, which let it go, has left it.
    await router.db.configRow.deleteMany({ where: { menu: LISTS } });
    await router.shut();
    await router.open();
    await router.healthy();
    expect(await invalid(FILTER, rule)).toBe('true');
    const client = await Client.open(router.url);
    client.send({ op: 'subscribe', id: 1, topic: 'status' });
    const text =
      `A rule with action drop cannot work and lets packets pass: ${FILTER} ${rule} (chain forward, out): ` +
      'in-interface-list: there is no interface list guests.';
    expect(await client.next(({ op }) => op === 'status')).toMatchObject({ alarms: [text] });
    const { rows: log } = await router.rest('GET', '/log');
    expect(log.filter(({ message }) => message === text)).toHaveLength(1);
    await add(LISTS, { name: 'guests' });
    await add('/interface/list/member', { list: 'guests', interface: 'ether1' });
    await client.next(({ op, alarms }) => op === 'status' && Array.isArray(alarms) && alarms.length === 0);
    expect(await invalid(FILTER, rule)).toBe('false');
    client.socket.close();
  });
});
