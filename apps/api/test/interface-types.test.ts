import { describe, expect, it, vi } from 'vitest';

/** The declarations with a second type of interfaces beside Ethernet ports. */
vi.mock('@tollway/schema', async (original) => {
  const schema = await original<typeof import('@tollway/schema')>();
  const ethernet = schema.menuByPath('/interface/ethernet');
  if (ethernet === undefined) throw new Error('there is no /interface/ethernet');
  const bridge = { ...ethernet, path: '/interface/bridge', interfaceType: 'bridge', autoName: 'bridge' };
  return {
    ...schema,
    registry: [...schema.registry, bridge],
    menuByPath: (path: string) => (path === bridge.path ? bridge : schema.menuByPath(path)),
  };
});

const { menuByPath } = await import('@tollway/schema');
const { compileMenus } = await import('../src/compiler/compile.js');
const { InterfaceNames } = await import('../src/compiler/interface-names.js');
const { Draft } = await import('../src/config/draft.js');
const { Editor } = await import('../src/config/editor.js');
const { adoptPorts } = await import('../src/config/ports.js');
const { fieldError } = await import('../src/config/proposed-row.js');
const { menuChecks, menuModules } = await import('../src/menus/index.js');
const { interfacesView } = await import('../src/view/interfaces.js');
type Author = import('../src/config/revision-storage.js').Author;
type ConfigStore = import('../src/config/store.js').ConfigStore;
type Edit = import('../src/config/store.js').Edit<unknown>;
type StoredRow = import('../src/config/draft.js').StoredRow;
type MenuModule = import('../src/menus/module.js').MenuModule;
type LiveState = import('../src/state/live-state.js').LiveState;

/** The module of the second type. */
const bridge: MenuModule = {
  path: '/interface/bridge',
  check: ({ menu: { path }, values }) =>
    values.mtu === '9000' ? fieldError('mtu', `value of mtu: no port of this row of ${path} takes so much`) : undefined,
  compile: ({ snapshot }) => ({
    interfaces: (snapshot.get('/interface/bridge') ?? []).map(({ id, values: { name = '' }, disabled }) => ({
      row: id,
      name,
      kind: { type: 'ethernet', port: name, io: 'auto' },
      disabled,
      mtu: 1500,
      'mac-address': null,
      arp: 'enabled',
      'arp-timeout-ms': null,
    })),
  }),
  view: (menu, { store, live }) => interfacesView(menu, store, live),
};
const checks = new Map([...menuChecks, [bridge.path, bridge]]);

const AUTHOR: Author = { name: 'admin', address: '' };

const row = (id: number, name: string, rank: number): StoredRow => ({
  id,
  rank,
  values: { name, 'default-name': name },
  disabled: false,
  comment: '',
});

/** An editor over ether1 (row 1) and bridge1 (row 2), and a draft of what it has committed. */
function fresh() {
  let next = 10;
  const base = new Map([
    ['/interface/ethernet', [row(1, 'ether1', 1024)]],
    ['/interface/bridge', [row(2, 'bridge1', 1024)]],
    ['/ip/address', [{ ...row(3, '', 1024), values: { address: '10.0.0.1/24', interface: 'bridge1' } }]],
  ]);
  const draft = new Draft(base, () => next++, checks);
  const commit = async (_author: Author, _summary: unknown, edit: Edit) => edit(draft);
  return { draft, editor: new Editor({ commit } as unknown as ConfigStore) };
}

const menu = (path: string) => {
  const found = menuByPath(path);
  if (found === undefined) throw new Error(`there is no menu ${path}`);
  return found;
};

describe('interfaces of several types', () => {
  it('are changed by /interface in the menu that stores them', async () => {
    const { draft, editor } = fresh();
    await editor.setComment(AUTHOR, menu('/interface'), ['*2'], 'of a bridge');
    await editor.set(AUTHOR, menu('/interface'), ['bridge1'], { mtu: '1400' });
    expect(draft.rows('/interface/bridge')).toMatchObject([{ id: 2, comment: 'of a bridge', values: { mtu: '1400' } }]);
    expect(draft.rows('/interface/ethernet')).toMatchObject([{ id: 1, comment: '', values: { name: 'ether1' } }]);
  });

  it('are renamed with what refers to them', async () => {
    const { draft, editor } = fresh();
    await editor.set(AUTHOR, menu('/interface'), ['bridge1'], { name: 'lan' });
    expect(draft.rows('/ip/address')).toMatchObject([{ values: { interface: 'lan' } }]);
  });

  it('share one name space', async () => {
    const taken = 'already have interface with such name';
    const { draft, editor } = fresh();
    await expect(editor.set(AUTHOR, menu('/interface/ethernet'), ['ether1'], { name: 'bridge1' })).rejects.toThrow();
    await expect(editor.set(AUTHOR, menu('/interface'), ['ether1'], { name: 'bridge1' })).rejects.toMatchObject({
      detail: expect.stringContaining(taken),
    });
    await expect(editor.set(AUTHOR, menu('/interface/bridge'), ['bridge1'], { name: 'ether1' })).rejects.toMatchObject({
      detail: expect.stringContaining(taken),
    });
    await editor.set(AUTHOR, menu('/interface'), ['bridge1'], { name: 'bridge1', mtu: '1400' });
    expect(draft.rows('/interface/bridge')).toMatchObject([{ values: { mtu: '1400' } }]);
  });

  it('share it with queue trees, whose parents they are', async () => {
    const { draft, editor } = fresh();
    draft.add('/queue/tree', { values: { name: 'wan' }, disabled: false, comment: '' });
    for (const [path, item] of [
      ['/interface/bridge', 'bridge1'],
      ['/interface', 'bridge1'],
      ['/interface', 'ether1'],
    ] as const) {
      await expect(editor.set(AUTHOR, menu(path), [item], { name: 'wan' })).rejects.toMatchObject({
        detail: expect.stringContaining('wan is a queue tree'),
      });
    }
  });

  it.each(['/interface/bridge', '/interface'])('are held to the check of their own menu by %s', async (path) => {
    const { editor } = fresh();
    await expect(editor.set(AUTHOR, menu(path), ['bridge1'], { mtu: '9000' })).rejects.toMatchObject({
      detail: expect.stringContaining('no port of this row of /interface/bridge'),
    });
    const ether = path === '/interface' ? path : '/interface/ethernet';
    await editor.set(AUTHOR, menu(ether), ['ether1'], { mtu: '9000' });
  });

  it('are held to it where another menu has a property of their rows', async () => {
    const { editor } = fresh();
    await editor.set(AUTHOR, menu('/queue/interface'), ['ether1'], { queue: 'default' });
    const { draft, editor: other } = fresh();
    draft.set('/interface/bridge', 2, { values: { name: 'bridge1', mtu: '9000' }, disabled: false, comment: '' });
    await expect(other.set(AUTHOR, menu('/queue/interface'), ['bridge1'], { queue: 'default' })).rejects.toMatchObject({
      detail: expect.stringContaining('no port of this row of /interface/bridge'),
    });
  });

  it('are compiled one type after the other', () => {
    const { draft } = fresh();
    const compilers = [...menuModules, bridge].flatMap(({ compile }) => compile ?? []);
    const { config } = compileMenus(compilers, draft.snapshot(), 0);
    expect(config.interfaces.map(({ name }) => name)).toEqual(['ether1', 'bridge1']);
    expect(config.addresses).toMatchObject([{ interface: 2 }]);
    const settings = menuModules.filter(({ path }) => path === '/ip/settings').flatMap(({ compile }) => compile ?? []);
    expect(() => compileMenus([...compilers, ...settings], draft.snapshot(), 0)).toThrow('section settings');
  });

  it('are all-ethernet as far as they are Ethernet ports', () => {
    const names = InterfaceNames.of(fresh().draft.snapshot());
    expect(names.rows('in-interface', 'all-ethernet')).toEqual([1]);
    expect(names.rows('in-interface', 'bridge1')).toEqual([2]);
    expect(names.list('all')).toEqual([1, 2]);
  });

  it('are shown by /interface, each with its type, and by their own menu', async () => {
    const store = { snapshot: fresh().draft.snapshot() } as unknown as ConfigStore;
    const live = { stats: async () => undefined, ports: async () => undefined, agent: {} } as unknown as LiveState;
    const shown = async (path: string) => {
      const rows = await interfacesView(menu(path), store, live)();
      return Array.from({ length: rows.length }, (_, index) => rows.row(index));
    };
    expect(await shown('/interface')).toMatchObject([
      { name: 'ether1', type: 'ether' },
      { name: 'bridge1', type: 'bridge' },
    ]);
    expect(await shown('/interface/bridge')).toMatchObject([{ '.id': '*2', name: 'bridge1' }]);
  });

  it('are named by the router as no interface of another type is', async () => {
    const { draft, editor } = fresh();
    await editor.set(AUTHOR, menu('/interface'), ['ether1'], { name: 'bridge2' });
    draft.add('/queue/tree', { values: { name: 'bridge3' }, disabled: false, comment: '' });
    expect(draft.freeName('/interface/bridge', 'bridge')).toBe('bridge4');
    await editor.set(AUTHOR, menu('/interface'), ['bridge1'], { name: 'ether2' });
    draft.add('/queue/tree', { values: { name: 'ether2-1' }, disabled: false, comment: '' });
    const port = { name: 'ether2', 'mac-address': '', 'max-l2mtu': 1500, io: 'auto', 'io-reason': '' };
    adoptPorts(draft, [port as unknown as Parameters<typeof adoptPorts>[1][number]]);
    expect(draft.rows('/interface/ethernet')).toMatchObject([{ id: 1 }, { values: { name: 'ether2-2' } }]);
  });
});
