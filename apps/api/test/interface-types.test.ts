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
const { Draft } = await import('../src/config/draft.js');
const { Editor } = await import('../src/config/editor.js');
const { adoptPorts } = await import('../src/config/ports.js');
type Author = import('../src/config/revision-storage.js').Author;
type ConfigStore = import('../src/config/store.js').ConfigStore;
type Edit = import('../src/config/store.js').Edit<unknown>;
type StoredRow = import('../src/config/draft.js').StoredRow;

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
  const draft = new Draft(base, () => next++);
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

  it('are named by the router as no interface of another type is', async () => {
    const { draft, editor } = fresh();
    await editor.set(AUTHOR, menu('/interface'), ['ether1'], { name: 'bridge2' });
    expect(draft.freeName('/interface/bridge', 'bridge')).toBe('bridge3');
    await editor.set(AUTHOR, menu('/interface'), ['bridge1'], { name: 'ether2' });
    const port = { name: 'ether2', 'mac-address': '', 'max-l2mtu': 1500, io: 'auto', 'io-reason': '' };
    adoptPorts(draft, [port as unknown as Parameters<typeof adoptPorts>[1][number]]);
    expect(draft.rows('/interface/ethernet')).toMatchObject([{ id: 1 }, { values: { name: 'ether2-1' } }]);
  });
});
