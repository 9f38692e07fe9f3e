import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { endpoints } from '@tollway/protocol/endpoints';
import { registry } from '@tollway/schema';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rawRequest } from './raw-request.js';
import { PASSWORD, Router } from './router.js';

let router: Router;
let web: string;
const large = 'export const x = 1;\n'.repeat(5_000);
const authorization = `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`;
/** Header of browsers that open an address. */
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

beforeAll(async () => {
  web = await mkdtemp(join(tmpdir(), 'tollway-web-'));
  await mkdir(join(web, 'assets'));
  await writeFile(join(web, 'index.html'), '<title>index</title>');
  await writeFile(join(web, 'assets', 'app.js'), 'export {}');
  await writeFile(join(web, 'assets', 'large.js'), large);
  await writeFile(join(web, 'assets', 'large.js.br'), brotliCompressSync(large));
  await writeFile(join(web, 'assets', 'large.js.gz'), gzipSync(large));
  router = await Router.start({ webRoot: web });
});
afterAll(async () => {
  await router.close();
  await rm(web, { recursive: true, force: true });
});

describe('the browser application', () => {
  it('is served without authentication, its paths get the index page', async () => {
    for (const path of ['/', '/interfaces', '/ip/firewall/filter?x=1']) {
      const answer = await router.request('GET', path, undefined, path === '/' ? {} : BROWSER);
      expect(answer).toMatchObject({ status: 200, body: '<title>index</title>' });
      expect(answer.headers.get('cache-control')).toBe('no-cache');
    }
    const asset = await router.request('GET', '/assets/app.js');
    expect(asset).toMatchObject({ status: 200, body: 'export {}' });
    expect(asset.headers.get('cache-control')).toMatch(/immutable/);
    expect((await router.request('GET', '/assets/gone.js', undefined, BROWSER)).status).toBe(404);
  });

  it('is not the answer to a program that mistypes a path', async () => {
    for (const path of ['/REST/interface', '//rest/interface', '/readyz', '/ip/address']) {
      for (const accept of ['', '*/*', 'application/json']) {
        const answer = await router.request('GET', path, undefined, { accept });
        expect(answer, path).toMatchObject({ status: 404, body: { error: 404, message: 'Not Found' } });
      }
    }
  });

  it('is compressed for who takes that, and not sent again to who has it', async () => {
    const get = (headers: Record<string, string>, path = '/assets/large.js') =>
      rawRequest(router.url + path, 'GET', headers);
    const wanted: [string, string | undefined][] = [
      ['gzip, deflate, br, zstd', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0, gzip;q=0.5', 'gzip'],
      ['identity', undefined],
      ['', undefined],
    ];
    for (const [accepted, coding] of wanted) {
      const answer = await get({ 'accept-encoding': accepted });
      expect(answer.status).toBe(200);
      expect(answer.headers['content-encoding'], accepted).toBe(coding);
      expect(answer.headers['content-type']).toBe('text/javascript; charset=utf-8');
      expect(answer.headers.vary).toContain('accept-encoding');
      const plain =
        coding === 'br'
          ? brotliDecompressSync(answer.bytes)
          : coding === 'gzip'
            ? gunzipSync(answer.bytes)
            : answer.bytes;
      expect(plain.toString()).toBe(large);
      if (coding !== undefined) expect(answer.bytes.length).toBeLessThan(large.length / 10);
      const again = await get({ 'accept-encoding': accepted, 'if-none-match': String(answer.headers.etag) });
      expect(again).toMatchObject({ status: 304, body: '' });
    }
    expect((await get({}, '/assets/large.js.br')).status).toBe(404);
    const head = await rawRequest(`${router.url}/assets/large.js`, 'HEAD', {});
    expect(head).toMatchObject({ status: 200, body: '' });
    expect(head.headers['content-length']).toBe(String(large.length));
  });

  it('gives no file from elsewhere', async () => {
    for (const path of ['/..%2f..%2f..%2fetc/passwd', '/assets/..%2f..%2ftollway.db', '/%00', '/%2e%2e/tollway.db']) {
      const answer = await router.request('GET', path);
      expect(JSON.stringify(answer.body)).not.toMatch(/root:|SQLite/);
    }
  });
});

describe('the description of the API', () => {
  it('covers every menu, and needs a login', async () => {
    expect((await router.request('GET', '/docs/json')).status).toBe(401);
    const { status, item: body } = await router.request('GET', '/docs/json', undefined, { authorization });
    expect(status).toBe(200);
    expect(body.openapi).toMatch(/^3\./);
    const paths = Object.keys(Object(body.paths)).join('\n');
    for (const { path } of registry) expect(paths).toContain(path);
    const page = await router.request('GET', '/docs/', undefined, { authorization });
    expect(page).toMatchObject({ status: 200 });
    expect(page.body).toMatch(/swagger/i);
  });

  it('covers every route of /api/v1, which are those of the protocol', async () => {
    const { item: body } = await router.request('GET', '/docs/json', undefined, { authorization });
    for (const { path } of endpoints) expect(Object(body.paths)).toHaveProperty([path.replaceAll(/:(\w+)/g, '{$1}')]);
    const above: string[] = [];
    const served = [...router.app.printRoutes({ commonPrefix: false }).matchAll(/^(.*)── (\S+) \((\w+)/gm)].map(
      ([, indent = '', part = '', method]) => {
        const depth = (indent.length - 1) / 4;
        above.splice(depth, above.length, part);
        return `${method} ${above.join('')}`;
      },
    );
    expect(served.filter((route) => route.includes('/api/v1')).sort()).toEqual(
      endpoints.map(({ method, path }) => `${method} ${path}`).sort(),
    );
  });
});
