import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LONG_WRITES, Router } from './router.js';

let router: Router;
beforeAll(async () => {
  router = await Router.start(LONG_WRITES);
  await router.rest('PUT', '/ip/address', { address: '10.0.0.1/24', interface: 'ether1' });
});
afterAll(() => router.close());

describe('a value that is wrong is refused with the property and what it accepts', () => {
  it.each([
    ['/ip/address', { address: '10.0.0.1/99', interface: 'ether1' }, 'address', /prefix|a\.b\.c\.d/],
    ['/ip/address', { address: '10.0.1.1/0', interface: 'ether1' }, 'address', /prefix length of 1 to 32/],
    ['/ip/address', { address: '10.0.1.1/24', interface: 'ether9' }, 'interface', /ether1/],
    ['/ip/address', { address: '10.0.0.1/24', interface: 'ether1' }, 'address', /already/],
    ['/ip/address', { interface: 'ether1' }, 'address', /required|missing/],
    ['/ip/address', { address: '10.0.2.1/24', interface: 'ether1', vrf: 'x' }, 'vrf', /unknown parameter vrf/],
    [
      '/ip/address',
      { address: '10.0.2.1/24', interface: 'ether1', invalid: 'no' },
      'invalid',
      /unknown parameter invalid/,
    ],
    ['/ip/address', { address: '10.0.2.1/24', interface: 'ether1', disabled: 'maybe' }, 'disabled', /yes or no/],
    ['/ip/address', { address: { a: 1 }, interface: 'ether1' }, 'address', /text/],
    ['/ip/address', { address: null, interface: 'ether1' }, 'address', /text/],
    ['/ip/firewall/filter', { chain: 'forward', protocol: 'tcp', 'dst-port': '70000' }, 'dst-port', /65535/],
    ['/ip/firewall/filter', { chain: 'forward', action: 'explode' }, 'action', /accept/],
    ['/ip/firewall/filter', { chain: 'forward', 'log-prefix': 'a\nb' }, 'log-prefix', /in one line/],
    ['/ip/firewall/filter', { chain: 'forward', 'place-before': '*FFFF' }, 'place-before', /no such item/],
    ['/ip/route', { 'dst-address': '10.0.0.0/8', gateway: '300.1.1.1' }, 'gateway', /address/],
  ])('PUT %s %j', async (path, body, property, detail) => {
    const answer = await router.rest('PUT', path, body);
    expect(answer).toMatchObject({ status: 400, body: { error: 400, message: 'Bad Request', property } });
    expect(answer.error.detail).toMatch(detail);
    expect(answer.error.detail).toContain(property);
  });

  it('a router without a name', async () => {
    const answer = await router.rest('PATCH', '/system/identity', { name: '' });
    expect(answer).toMatchObject({ status: 400, body: { property: 'name' } });
    expect(answer.error.detail).toMatch(/1 to 64 characters/);
  });

  it.each([
    [{ 'icmp-rate-mask': '0x1ffffffff' }, /0x1818/],
    [{ 'icmp-rate-mask': 'all' }, /0x1818/],
    [{ 'ipv4-fragment-time': '0' }, /1..255/],
    [{ 'ipv4-high-fragment-thresh': '5GiB' }, /4294967295/],
    [{ 'tcp-timestamps': 'yes' }, /random-offset/],
    [{ 'secure-redirects': 'maybe' }, /yes or no/],
  ])('PATCH /ip/settings %j', async (body, detail) => {
    const answer = await router.rest('PATCH', '/ip/settings', body);
    expect(answer).toMatchObject({ status: 400, body: { property: Object.keys(body)[0] } });
    expect(answer.error.detail).toMatch(detail);
  });

  it('and nothing is stored', async () => {
    expect((await router.rest('GET', '/ip/address')).body).toHaveLength(1);
    expect((await router.rest('GET', '/ip/firewall/filter')).body).toHaveLength(0);
  });
});

describe('bodies', () => {
  it('malformed JSON', async () => {
    const answer = await router.rest('PUT', '/ip/address', '{"address":');
    expect(answer).toMatchObject({ status: 400, body: { error: 400, message: 'Bad Request' } });
    expect(answer.error.detail).toMatch(/JSON/);
  });

  it.each(['PUT', 'PATCH'])('%s of an empty list names what is accepted', async (method) => {
    const answer = await router.rest(method, '/ip/address', []);
    expect(answer).toMatchObject({ status: 400, body: { error: 400, message: 'Bad Request' } });
    expect(answer.error.detail).toMatch(/one JSON object or a list/);
  });

  it.each([
    ['PUT', '"text"'],
    ['PUT', '5'],
    ['PUT', '[7]'],
    ['PUT', '[[{"address":"10.0.3.1/24","interface":"ether1"}]]'],
    ['POST', '[{"address":"10.0.3.1/24","interface":"ether1"}]'],
  ])('%s %s is no object', async (method, body) => {
    const path = method === 'POST' ? '/ip/address/add' : '/ip/address';
    expect((await router.rest(method, path, body)).status).toBe(400);
  });

  it('of 10 MB', async () => {
    const answer = await router.rest('PUT', '/ip/address', JSON.stringify({ comment: 'x'.repeat(10_000_000) }));
    expect(answer).toMatchObject({ status: 413, body: { error: 413, message: 'Payload Too Large' } });
  });

  it('keys of the prototype are no parameters', async () => {
    for (const property of ['__proto__', 'constructor', 'toString']) {
      const answer = await router.rest('PUT', '/ip/address', `{"${property}":{"address":"10.0.4.1/24"}}`);
      const error = { error: 400, message: 'Bad Request', detail: `unknown parameter ${property}`, property };
      expect([answer.status, answer.error]).toMatchObject([400, error]);
    }
  });

  it('texts are Unicode: half a surrogate pair cannot be stored', async () => {
    const answer = await router.rest('PUT', '/ip/firewall/filter', '{"chain":"forward","comment":"a\\ud800"}');
    expect(answer).toMatchObject({ status: 400, body: { property: 'comment' } });
  });

  it('a content type without a body', async () => {
    expect(
      (await router.rest('GET', '/system/identity', undefined, { 'content-type': 'application/json' })).status,
    ).toBe(200);
  });
});

describe('places that do not exist', () => {
  it.each([
    ['GET', '/no/such', 404, 'no such command or directory (no)'],
    ['GET', '/ip', 404, 'no such command or directory (ip)'],
    ['GET', '/ip/nonsense', 404, 'no such command or directory (nonsense)'],
    ['POST', '/ip/address/explode', 400, 'no such command or directory (explode)'],
    ['PUT', '/interface/ethernet', 406, 'no such command or directory (add)'],
    ['DELETE', '/interface/ether1', 406, 'no such command or directory (remove)'],
    ['DELETE', '/system/identity', 406, 'no such command or directory (remove)'],
    ['PATCH', '/log/*1', 406, 'no such command or directory (set)'],
    ['GET', '/ip/address/%ZZ', 400, undefined],
    ['DELETE', '/ip/address', 400, 'missing or invalid resource identifier'],
  ])('%s %s', async (method, path, status, detail) => {
    const answer = await router.rest(method, path);
    expect(answer.status).toBe(status);
    expect(answer.error.error).toBe(status);
    if (detail !== undefined) expect(answer.error.detail).toBe(detail);
  });

  it('methods that there are not', async () => {
    for (const method of ['OPTIONS', 'PROPFIND']) {
      const answer = await router.rest(method, '/ip/address');
      expect(answer).toMatchObject({ status: 405, body: { error: 405, message: 'Method Not Allowed' } });
    }
  });

  it('headers that are too long', async () => {
    const answer = await router.rest('GET', `/ip/address?${'a=b&'.repeat(5000)}`);
    expect(answer).toMatchObject({ status: 431, body: { error: 431, message: 'Request Header Fields Too Large' } });
  });

  it('unknown items', async () => {
    for (const path of ['/ip/address/*FFFF', '/ip/address/%2AFFFF', '/interface/ether99', '/interface/list/nope']) {
      expect(await router.rest('GET', path)).toMatchObject({ status: 404, body: { error: 404, message: 'Not Found' } });
    }
    expect((await router.rest('PATCH', '/ip/address/*FFFF', { comment: 'x' })).status).toBe(404);
  });
});

describe('filters', () => {
  it('compare after normalisation, and unknown ones match nothing', async () => {
    const get = async (query: string) => (await router.rest('GET', `/ip/address?${query}`)).rows;
    expect(await get('dynamic=no&interface=ether1')).toHaveLength(1);
    expect(await get('dynamic=true')).toEqual([]);
    expect(await get('colour=red')).toEqual([]);
    const [row] = await get('network=10.0.0.0&.proplist=.id,address');
    expect(Object.keys(row ?? {})).toEqual(['.id', 'address']);
    expect(await get(`.id=${row?.['.id']}&.proplist=address`)).toEqual([{ address: '10.0.0.1/24' }]);
    expect(await get('.id=*FFFF')).toEqual([]);
    expect(await get('.proplist=toString,weather')).toEqual([{}]);
  });
});
