import { registry } from '@tollway/schema';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from './live-client.js';
import { Router } from './router.js';

/** Names that every JavaScript object answers to: none of them is a property, a command, a column or a menu. */
const NAMES = ['constructor', 'toString', 'hasOwnProperty', 'valueOf', '__proto__', '__defineGetter__'];

let router: Router;
beforeAll(async () => {
  router = await Router.start();
});
afterAll(() => router.close());

describe('names that every object has are refused as any other that is not there', () => {
  it.each(NAMES)('%s', async (name) => {
    const body = `{${JSON.stringify(name)}:"x"}`;
    for (const { path, commands, kind } of registry) {
      const calls: [string, string, string | undefined][] = [
        ['GET', `${path}/${name}`, undefined],
        ['GET', `${path}?${name}=x&.proplist=${name}`, undefined],
        ['PUT', path, body],
        ['PATCH', path, body],
        ['PATCH', `${path}/${name}`, body],
        ['DELETE', `${path}/${name}`, undefined],
        ['POST', path, body],
        ['POST', `${path}/${name}`, body],
        ['POST', `${path}/dry-run`, body],
        ['POST', `${path}/unset`, JSON.stringify({ numbers: '*1', 'value-name': name })],
        ['POST', `${path}/print`, JSON.stringify({ '.query': [name, `${name}=x`, `<${name}=x`], '.proplist': name })],
        ...(kind === 'command' ? [] : [...commands.keys()]).map((command): [string, string, string] => [
          'POST',
          `${path}/${command}`,
          body,
        ]),
      ];
      for (const [method, url, text] of calls) {
        const { status } = await router.rest(method, url, text);
        expect([200, 400, 404, 405, 406], `${method} ${url} ${text}`).toContain(status);
        if (method !== 'GET' && !url.endsWith('/print')) expect(status, `${method} ${url} ${text}`).not.toBe(200);
      }
      const values = await router.rest('GET', `/../api/v1/values?menu=${path}&property=${name}`);
      expect([200, 400, 404]).toContain(values.status);
      if (values.status === 200) expect(values.body).toEqual([]);
    }
    expect((await router.rest('GET', `/${name}`)).status).toBe(404);
    const csv = `name,target,${name}\nq,10.0.0.1,x\n`;
    const imported = await router.rest('POST', '/../api/v1/queues/import', { csv });
    expect(imported).toMatchObject({ status: 400, body: { detail: expect.stringContaining('no setting of a queue') } });
  });

  it('in messages of the WebSocket', async () => {
    const client = await Client.open(router.url);
    let id = 0;
    for (const name of NAMES) {
      const refused: object[] = [
        { op: name },
        { op: 'subscribe', topic: name },
        { op: 'subscribe', topic: 'menu', menu: name },
        { op: 'subscribe', topic: 'menu', menu: '/interface', filter: { [name]: 'x', constructor: 'x' } },
        { op: 'subscribe', topic: 'menu', menu: '/interface', filter: { name: { op: name, value: 'x' } } },
        { op: 'subscribe', topic: 'trace', dry: true, arguments: JSON.parse(`{"${name}":"x"}`) },
      ];
      for (const message of refused) {
        id += 1;
        client.send({ ...message, id });
        expect((await client.next((answer) => answer.id === id)).op, JSON.stringify(message)).toBe('error');
      }
      id += 1;
      client.send({ op: 'subscribe', id, topic: 'menu', menu: '/interface', sort: { by: name }, columns: [name] });
      expect((await client.next((answer) => answer.id === id)).op).toBe('snapshot');
    }
    client.socket.close();
  });
});
