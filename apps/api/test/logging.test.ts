import { createSocket } from 'node:dgram';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from './eventually.js';
import { Router } from './router.js';

const RULES = '/system/logging';
const ACTIONS = '/system/logging/action';

let router: Router;
let echoed: string;
beforeEach(async () => {
  echoed = '';
  router = await Router.start({
    echo: (text) => {
      echoed += text;
    },
  });
});
afterEach(() => router.close());

async function added(menu: string, body: object): Promise<string> {
  const answer = await router.rest('PUT', menu, body);
  expect(answer.body).not.toHaveProperty('error');
  return answer.id;
}

const say = (message: string, severity = 'info') => router.rest('POST', `/log/${severity}`, { message });

/** Messages in a buffer, or in all of them. */
async function held(buffer?: string): Promise<string[]> {
  const { rows } = await router.rest('GET', buffer === undefined ? '/log' : `/log?buffer=${buffer}`);
  return rows.map(({ message = '' }) => message);
}

const setRule = (topics: string, body: object) => async () => {
  const { rows } = await router.rest('GET', `${RULES}?topics=${topics}`);
  return router.rest('PATCH', `${RULES}/${rows[0]?.['.id']}`, body);
};

describe('a router', () => {
  it('has the rules and actions that RouterOS has, which can be set and not removed', async () => {
    const rules = (await router.rest('GET', RULES)).rows;
    expect(rules.map(({ topics, action }) => `${topics} ${action}`)).toEqual([
      'info memory',
      'error memory',
      'warning memory',
      'critical echo',
    ]);
    for (const rule of rules) expect(rule).toMatchObject({ default: 'true', disabled: 'false', invalid: 'false' });
    const actions = (await router.rest('GET', ACTIONS)).rows;
    expect(actions.map(({ name, target }) => `${name} ${target}`)).toEqual([
      'memory memory',
      'disk disk',
      'echo echo',
      'remote remote',
    ]);
    expect(actions[0]).toMatchObject({ 'memory-lines': '1000', 'memory-stop-on-full': 'false', default: 'true' });
    expect(actions[0]).not.toHaveProperty('remote-port');
    const id = rules[0]?.['.id'];
    expect((await router.rest('DELETE', `${RULES}/${id}`)).error.detail).toBe(
      'failure: a builtin item can not be removed',
    );
    expect((await router.rest('DELETE', `${ACTIONS}/memory`)).error.detail).toBe(
      'failure: a builtin item can not be removed',
    );
    expect((await router.rest('PATCH', `${ACTIONS}/memory`, { name: 'ram' })).error).toMatchObject({
      detail: 'value of name: a builtin log action keeps its name, memory',
      property: 'name',
    });
    // As a router of RouterOS takes them.
    expect((await router.rest('PATCH', `${ACTIONS}/echo`, { remember: 'yes' })).status).toBe(200);
    expect((await router.rest('PATCH', `${ACTIONS}/echo`, { remember: 'no' })).status).toBe(400);
    for (const target of ['email', 'script', 'cmr']) {
      const { error } = await router.rest('PUT', ACTIONS, { name: 'x', target });
      expect(error.detail).toContain('memory, disk, echo, remote');
    }
    // None of that is stored: a router of a version before has the same.
    expect(await router.db.configRow.count({ where: { menu: { startsWith: '/system/logging' } } })).toBe(0);
  });

  it('keeps what was set of them, switched off ones too, through a restart; undo undoes it', async () => {
    const set = await setRule('info', { disabled: 'yes', comment: 'quiet', prefix: 'p' })();
    expect(set.item).toMatchObject({ disabled: 'true', comment: 'quiet', prefix: 'p', default: 'true' });
    await router.shut();
    await router.open();
    const { rows } = await router.rest('GET', `${RULES}?topics=info`);
    expect(rows).toMatchObject([{ disabled: 'true', comment: 'quiet', prefix: 'p', default: 'true' }]);
    expect(await held()).not.toContain('router management started');
    await router.healthy();
    const revision = set.headers.get('x-tollway-revision');
    const { status } = await router.request('POST', `/api/v1/revisions/${revision}/undo`, {}, headers());
    expect(status).toBe(200);
    expect((await router.rest('GET', `${RULES}?topics=info`)).rows).toMatchObject([{ disabled: 'false', prefix: '' }]);
    await say('audible');
    expect(await held()).toContain('audible');
  });
});

const headers = () => ({
  authorization: `Basic ${Buffer.from('admin:correct horse').toString('base64')}`,
});

describe('rules', () => {
  it('decide what the log shows, and in which buffer', async () => {
    await added(ACTIONS, { name: 'scripts', target: 'memory', 'memory-lines': '2' });
    const id = await added(RULES, { topics: 'script,!error', action: 'scripts', prefix: 'S', regex: '^(a|b)' });
    await say('a one');
    await say('c two');
    await say('b three', 'error');
    await say('b four', 'debug');
    // What no rule wants is nowhere.
    await say('c five', 'debug');
    expect(await held('scripts')).toEqual(['S: a one', 'S: b four']);
    expect((await held('memory')).filter((text) => /^[abc] /.test(text))).toEqual(['a one', 'c two', 'b three']);
    expect(await held()).not.toContain('c five');
    // In the order in which they were written.
    expect((await held()).slice(-5)).toEqual(['a one', 'S: a one', 'c two', 'b three', 'S: b four']);
    await say('a six');
    expect(await held('scripts')).toEqual(['S: b four', 'S: a six']);
    await router.rest('PATCH', `${RULES}/${id}`, { disabled: 'yes' });
    await say('a seven');
    expect(await held('scripts')).toEqual(['S: b four', 'S: a six']);
    const ids = (await router.rest('GET', '/log')).rows.map((row) => row['.id']);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('send a message once each, also to the same action', async () => {
    await added(RULES, { topics: 'script', action: 'memory' });
    await say('twice');
    expect((await held()).filter((text) => text === 'twice')).toEqual(['twice', 'twice']);
  });

  it.each([
    [{ topics: 'weather' }, 'topics'],
    [{ topics: 'info,!info' }, 'topics'],
    [{ regex: '(' }, 'regex'],
    [{ regex: 'a{200}{200}' }, 'regex'],
    [{ action: 'nowhere' }, 'action'],
    [{ prefix: 'a\nb' }, 'prefix'],
  ])('that cannot be are refused: %j', async (body, property) => {
    const { status, error } = await router.rest('PUT', RULES, body);
    expect({ status, property: error.property }).toEqual({ status: 400, property });
    expect(error.detail).toContain(property);
  });

  it('name actions: those stay while they do, and are followed by their names', async () => {
    const action = await added(ACTIONS, { name: 'mine', target: 'memory' });
    const rule = await added(RULES, { topics: 'script', action: 'mine' });
    await say('before');
    expect((await router.rest('DELETE', `${ACTIONS}/${action}`)).error.detail).toMatch(
      /^failure: log action mine is in use by \/system\/logging \*\w+; change that first$/,
    );
    await router.rest('PATCH', `${ACTIONS}/mine`, { name: 'ours' });
    expect((await router.rest('GET', `${RULES}/${rule}`)).item.action).toBe('ours');
    await say('after');
    expect(await held('ours')).toEqual(['before', 'after']);
    // A rule that always exists names one as any other does.
    await router.rest('DELETE', `${RULES}/${rule}`);
    await setRule('error', { action: 'ours' })();
    expect((await router.rest('DELETE', `${ACTIONS}/${action}`)).status).toBe(400);
    await setRule('error', { action: 'memory' })();
    expect((await router.rest('DELETE', `${ACTIONS}/${action}`)).status).toBe(204);
    expect(await held('ours')).toEqual([]);
  });

  it('whose action has no address are invalid', async () => {
    const id = await added(RULES, { topics: 'error', action: 'remote' });
    expect((await router.rest('GET', `${RULES}/${id}`)).item).toMatchObject({
      invalid: 'true',
      '.about': 'action remote sends nothing: its remote is not set',
    });
    await router.rest('PATCH', `${ACTIONS}/remote`, { remote: '127.0.0.1' });
    expect((await router.rest('GET', `${RULES}/${id}`)).item.invalid).toBe('false');
  });
});

describe('actions', () => {
  it('of target memory can be cleared, others not', async () => {
    await say('one');
    const clear = (numbers: string) => router.rest('POST', `${ACTIONS}/clear`, { numbers });
    expect((await clear('memory,disk')).error.detail).toContain('disk holds no messages');
    expect(await held()).toContain('one');
    expect(await clear('memory')).toMatchObject({ status: 200, body: [] });
    expect(await held()).toEqual([]);
    await say('two');
    expect(await held()).toEqual(['two']);
    expect((await clear('nowhere')).status).toBe(400);
  });

  it('that stop on full hold the oldest', async () => {
    await router.rest('PATCH', `${ACTIONS}/memory`, { 'memory-lines': '3', 'memory-stop-on-full': 'yes' });
    await router.rest('POST', `${ACTIONS}/clear`, { numbers: 'memory' });
    for (const text of ['1', '2', '3', '4']) await say(text);
    expect(await held()).toEqual(['1', '2', '3']);
  });

  it('of target echo write to the output, a line each', async () => {
    await added(RULES, { topics: 'script', action: 'echo' });
    await say('one\r\n2026-01-01 00:00:00 system,info forged');
    await eventually(() => expect(echoed).not.toBe(''));
    expect(echoed).toMatch(
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d script,info one\\u\{d\}\\u\{a\}2026-01-01 00:00:00 system,info forged\n$/,
    );
  });

  it('of target disk write files, and go on with them after a restart', async () => {
    const folder = join(router.directory, 'log');
    await router.rest('PATCH', `${ACTIONS}/disk`, { 'disk-lines-per-file': '3', 'disk-file-name': 'router' });
    expect(existsSync(folder)).toBe(false);
    await added(RULES, { topics: 'script', action: 'disk' });
    const lines = (name: string) =>
      readFileSync(join(folder, name), 'utf8')
        .replace(/^.{19} script,info /gm, '')
        .split('\n')
        .slice(0, -1);
    for (const text of ['1', '2', '3', '4\nforged']) await say(text);
    await eventually(() => expect(lines('router.0.txt')).toEqual(['4\\u{a}forged']));
    expect(lines('router.1.txt')).toEqual(['1', '2', '3']);
    await router.shut();
    await router.open();
    for (const text of ['5', '6', '7']) await say(text);
    await eventually(() => expect(lines('router.0.txt')).toEqual(['7']));
    expect(lines('router.1.txt')).toEqual(['4\\u{a}forged', '5', '6']);
    expect(readdirSync(folder).sort()).toEqual(['router.0.txt', 'router.1.txt']);
  });

  it('write no file outside of their folder, and none that another writes', async () => {
    for (const name of ['../x', '/etc/x', 'a/b', '.x', '..', 'a\\b', 'a b', '']) {
      const answer = await router.rest('PUT', ACTIONS, { name: 'd', target: 'disk', 'disk-file-name': name });
      expect({ name, status: answer.status, property: answer.error.property }).toEqual({
        name,
        status: 400,
        property: 'disk-file-name',
      });
    }
    const taken = await router.rest('PUT', ACTIONS, { name: 'd', target: 'disk' });
    expect(taken.error.detail).toBe('value of disk-file-name: log is written by action disk; give another name');
    await added(ACTIONS, { name: 'd', target: 'disk', 'disk-file-name': 'd' });
    expect((await router.rest('PATCH', `${ACTIONS}/disk`, { 'disk-file-name': 'd' })).error.property).toBe(
      'disk-file-name',
    );
    expect((await router.rest('PATCH', `${ACTIONS}/disk`, { 'disk-lines-per-file': '5' })).status).toBe(200);
  });

  it('whose disk takes nothing say so in the log, once, and memory goes on', async () => {
    writeFileSync(join(router.directory, 'log'), '');
    await added(RULES, { action: 'disk' });
    await say('one');
    const reported = async () => (await held()).filter((text) => text.startsWith('log action disk: '));
    await eventually(async () => expect(await reported()).toHaveLength(1));
    await say('two');
    expect(await reported()).toEqual([expect.stringContaining('cannot be written')]);
    expect(await held()).toEqual(expect.arrayContaining(['one', 'two']));
  });

  it('of target remote send syslog by UDP, in the name of the router', async () => {
    const socket = createSocket('udp4');
    const got: string[] = [];
    socket.on('message', (bytes) => got.push(bytes.toString()));
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    try {
      await router.rest('PATCH', '/system/identity', { name: 'Edge 1' });
      await router.rest('PATCH', `${ACTIONS}/remote`, {
        remote: '127.0.0.1',
        'remote-port': String(socket.address().port),
        'remote-log-format': 'syslog',
        'syslog-time-format': 'iso8601',
        'syslog-facility': 'local0',
      });
      await added(RULES, { topics: 'script', action: 'remote', prefix: 'x' });
      await say('hello', 'warning');
      await eventually(() => expect(got).toHaveLength(1));
      expect(got[0]).toMatch(
        /^<132>1 \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z Edge-1 tollway - script,warning - x: hello$/,
      );
      await router.rest('PATCH', '/system/identity', { name: 'Edge2' });
      await router.rest('PATCH', `${ACTIONS}/remote`, {
        'syslog-time-format': 'bsd-syslog',
        'syslog-severity': 'debug',
      });
      await say('again', 'warning');
      await eventually(() => expect(got).toHaveLength(2));
      expect(got[1]).toMatch(/^<135>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d Edge2 tollway: script,warning x: again$/);
    } finally {
      socket.close();
    }
  });

  it('of target remote send by TCP what came while the server was away', async () => {
    const server = createServer((socket) => {
      socket.on('data', (bytes) => {
        text += bytes.toString();
      });
    });
    let text = '';
    const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    await listen(0);
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await new Promise((resolve) => server.close(resolve));
    await router.rest('PATCH', `${ACTIONS}/remote`, {
      remote: '127.0.0.1',
      'remote-port': String(port),
      'remote-protocol': 'tcp',
    });
    await added(RULES, { topics: 'script', action: 'remote' });
    await say('one');
    const reported = async () => (await held()).filter((line) => line.startsWith('log action remote: '));
    await eventually(async () => expect(await reported()).toHaveLength(1));
    expect((await reported())[0]).toContain('ECONNREFUSED');
    await say('two');
    await listen(port);
    await eventually(() => expect(text).toBe('script,info one\nscript,info two\n'));
    expect(await reported()).toEqual([expect.stringContaining('cannot be reached'), 'log action remote: works again']);
    await router.shut();
    await new Promise((resolve) => server.close(resolve));
    await router.open();
  });

  it('send from an address of the version of IP that the server has', async () => {
    const { error } = await router.rest('PUT', ACTIONS, {
      name: 'r',
      target: 'remote',
      remote: '192.0.2.1',
      'src-address': '2001:db8::1',
    });
    expect(error.property).toBe('src-address');
    expect(error.detail).toContain('not of the version of IP');
  });

  it('that become another kind of action hold no messages any more', async () => {
    await added(ACTIONS, { name: 'mine', target: 'memory' });
    await added(RULES, { topics: 'script', action: 'mine' });
    await say('one');
    expect(await held('mine')).toEqual(['one']);
    await router.rest('PATCH', `${ACTIONS}/mine`, { target: 'echo' });
    expect(await held('mine')).toEqual([]);
    await say('two');
    await eventually(() => expect(echoed).toContain('script,info two\n'));
  });
});

it('what the data plane tells goes by the rules', async () => {
  await added(ACTIONS, { name: 'firewall', target: 'memory' });
  await added(RULES, { topics: 'firewall,info', action: 'firewall', regex: 'proto ICMP' });
  const packet = 'forward: in:ether1 out:ether2, connection-state:new proto ICMP (type 8, code 0), 10.0.0.1->10.0.0.2';
  router.peer?.tell({ event: 'log', 'time-ms': Date.now(), topics: 'firewall,info', message: packet });
  router.peer?.tell({ event: 'log', 'time-ms': Date.now(), topics: 'firewall,info', message: 'proto UDP' });
  await eventually(async () => expect(await held('memory')).toEqual(expect.arrayContaining([packet, 'proto UDP'])));
  expect(await held('firewall')).toEqual([packet]);
});
