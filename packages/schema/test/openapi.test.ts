import { describe, expect, it } from 'vitest';
import { openApi } from '../src/emit/openapi.js';
import { writableProperties } from '../src/emit/openapi-schemas.js';
import { registry } from '../src/registry.js';

const OPTIONS = { title: 'Tollway', version: '1.2.3', errorSchema: { type: 'object' } };
const document = openApi(registry, OPTIONS);

/** Every object inside a value, with the way to it. */
function* objects(value: unknown, way = ''): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [way, { ...value }];
  for (const [key, inner] of Object.entries(value)) yield* objects(inner, `${way}/${key}`);
}

function at(pointer: string): unknown {
  return pointer
    .slice(2)
    .split('/')
    .reduce<unknown>(
      (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
      document,
    );
}

const schema = (name: string) => at(`#/components/schemas/${name}`);

describe('OpenAPI of the registry', () => {
  it('is plain JSON, version 3.1, the same each time', () => {
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Tollway', version: '1.2.3' } });
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
    expect(openApi(registry, OPTIONS)).toEqual(document);
  });

  it('every reference leads somewhere', () => {
    const references = [...objects(document)].flatMap(([way, { $ref }]) =>
      typeof $ref === 'string' ? [[way, $ref]] : [],
    );
    expect(references.length).toBeGreaterThan(100);
    for (const [way, target] of references) expect(at(target ?? ''), `${way} → ${target}`).toBeDefined();
  });

  it('every property says what it is for and what it accepts', () => {
    for (const menu of registry) {
      const writable = Object.entries(writableProperties(menu)).filter(([name]) => Object.hasOwn(menu.props, name));
      for (const [name, property] of writable) {
        const { help, kind } = menu.props[name] ?? {};
        expect(property, `${menu.path} ${name}`).toMatchObject({ description: `${help} Accepts ${kind?.accepts}.` });
      }
    }
  });

  it('operation ids are unique, and every operation says what it answers', () => {
    const operations = [...objects(document)].filter(([, object]) => 'operationId' in object);
    expect(new Set(operations.map(([, object]) => object.operationId)).size).toBe(operations.length);
    for (const [way, { responses, summary }] of operations) {
      expect(Object.keys(responses ?? {}), way).toContain('401');
      expect(
        Object.keys(responses ?? {}).some((status) => status.startsWith('2')),
        way,
      ).toBe(true);
      expect(summary).toMatch(/./);
    }
  });

  it('every menu has its paths', () => {
    for (const menu of registry) expect(at(`#/paths`), menu.path).toHaveProperty([`/rest${menu.path}`]);
    const paths = Object.keys(Object(at('#/paths')));
    expect(paths).toEqual(
      expect.arrayContaining([
        '/rest/ip/firewall/filter/{id}',
        '/rest/ip/firewall/filter/move',
        '/rest/ip/firewall/filter/print',
        '/rest/system/identity/set',
      ]),
    );
    for (const { path, commands } of registry) {
      for (const name of commands.keys()) expect(paths).toContain(`/rest${path}/${name}`);
    }
    expect(paths).toEqual(expect.arrayContaining(['/rest/interface/monitor-traffic', '/rest/log/info']));
    expect(paths).not.toContain('/rest/system/identity/{id}');
    expect(Object(at('#/paths'))['/rest/ip/firewall/connection/{id}']).not.toHaveProperty('patch');
  });

  it('print takes the switches that change nothing, and no others', () => {
    const [body] = [...objects(Object(at('#/paths'))['/rest/ip/firewall/filter/print'])].flatMap(([, object]) =>
      'additionalProperties' in object && Object(object.properties)['count-only'] !== undefined ? [object] : [],
    );
    expect(body?.additionalProperties).toBe(false);
    expect(Object.keys(Object(body?.properties))).toEqual(expect.arrayContaining(['stats', 'without-paging']));
    expect(body?.properties).not.toHaveProperty('follow');
  });

  it('requests hold what may be given, replies what can be read', () => {
    expect(schema('ip-address-add')).toMatchObject({ required: ['address', 'interface'], additionalProperties: false });
    expect(schema('ip-address-set')).not.toHaveProperty('required');
    expect(schema('ip-address-add')).not.toHaveProperty('properties.invalid');
    expect(schema('ip-address')).toHaveProperty('properties.invalid');
    expect(schema('user')).not.toHaveProperty('properties.password');
    expect(schema('user-add')).toHaveProperty('properties.password.writeOnly', true);
    expect(schema('ip-firewall-filter-add')).toHaveProperty('properties.place-before');
    expect(schema('ip-firewall-filter-set')).not.toHaveProperty('properties.place-before');
    expect(schema('ip-firewall-filter-add')).toHaveProperty('properties.action.default', 'accept');
    expect(schema('system-identity')).not.toHaveProperty(['properties', '.id']);
  });

  const body = (path: string) => {
    const { requestBody } = Object(at('#/paths'))[path]?.post ?? {};
    return { required: requestBody?.required, schema: requestBody?.content['application/json'].schema };
  };

  it.each(['remove', 'enable', 'comment', 'move', 'set', 'unset', 'reset', 'reset-counters'])(
    '%s needs its items, by numbers or .id',
    (command) => {
      expect(body(`/rest/ip/firewall/filter/${command}`)).toMatchObject({
        required: true,
        schema: {
          anyOf: [{ required: ['numbers'] }, { required: ['.id'] }],
          properties: { numbers: {}, '.id': {} },
        },
      });
    },
  );

  it('tells where items that are gone by themselves are left out by remove', () => {
    const numbers = (path: string): string => body(path).schema.properties.numbers.description;
    for (const path of ['/ip/firewall/connection', '/ip/arp', '/ip/firewall/address-list']) {
      expect(numbers(`/rest${path}/remove`)).toContain('those that are gone left out');
    }
    expect(numbers('/rest/ip/firewall/address-list/enable')).toContain('all of them or none');
    expect(numbers('/rest/ip/firewall/filter/remove')).toBe(
      'Ids or names, comma separated or a list; all of them or none.',
    );
  });

  it('asks for what else a command needs, and for no item where there is none', () => {
    expect(body('/rest/ip/route/unset').schema.required).toEqual(['value-name']);
    expect(body('/rest/ip/route/comment').schema.required).toEqual(['comment']);
    expect(body('/rest/ip/firewall/filter/set').schema.properties).toHaveProperty('dst-port');
    for (const path of ['/rest/system/identity/set', '/rest/ip/firewall/nat/reset-counters-all']) {
      expect(body(path).schema).not.toHaveProperty('anyOf');
      expect(body(path).schema).not.toHaveProperty('properties.numbers');
    }
    expect(body('/rest/interface/reset-counters').schema).not.toHaveProperty('anyOf');
  });

  it('describes menus that are commands as commands, each with its own arguments and result', () => {
    const keys = (path: string) => Object.keys(body(path).schema.properties);
    const row = (path: string) => {
      const { schema } = Object(at('#/paths'))[path].post.responses['200'].content['application/json'];
      return Object.keys(schema.items?.properties ?? {});
    };
    const [trace, dry] = ['/rest/tool/packet-trace', '/rest/tool/packet-trace/dry-run'];
    expect(keys(trace)).toEqual(expect.arrayContaining(['packet', 'src-address', 'dropped', 'duration', '.proplist']));
    expect(keys(dry)).toEqual(expect.arrayContaining(['packet', 'src-address', 'ttl', 'tcp-flags', '.proplist']));
    for (const name of ['ttl', 'time', 'steps']) expect(keys(trace)).not.toContain(name);
    for (const name of ['dropped', 'packets', 'steps']) expect(keys(dry)).not.toContain(name);
    for (const path of [trace, dry]) expect(row(path)).toEqual(expect.arrayContaining(['time', 'src-port', 'steps']));
    expect(keys('/rest/tool/profile')).toEqual(['cpu', 'duration', 'once', '.proplist']);
    expect(row('/rest/tool/profile')).toEqual(['name', 'cpu', 'usage']);
    expect(body('/rest/tool/profile').schema.properties.cpu).toMatchObject({
      anyOf: [{ type: ['string', 'integer'] }, { enum: ['total', 'all'] }],
      default: 'total',
    });
    expect(body('/rest/password')).toMatchObject({
      required: true,
      schema: {
        required: ['old-password', 'new-password', 'confirm-new-password'],
        additionalProperties: false,
        properties: { 'old-password': { writeOnly: true } },
      },
    });
    expect(row('/rest/password')).toEqual([]);
  });

  it('holds the commands that programs run', () => {
    expect(body('/rest/interface/monitor-traffic').schema.required).toEqual(['interface']);
    expect(body('/rest/interface/ethernet/monitor').schema.anyOf).toContainEqual({ required: ['numbers'] });
    for (const severity of ['debug', 'info', 'warning', 'error']) {
      expect(body(`/rest/log/${severity}`)).toMatchObject({ required: true, schema: { required: ['message'] } });
    }
  });
});
