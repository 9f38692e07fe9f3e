import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columnValue, menuColumn } from '../src/column.js';
import { menuByPath } from '../src/registry.js';

const queues = menuByPath('/queue/simple') ?? { props: {} };
const column = (name: string) => menuColumn(queues, name);

describe('a column', () => {
  it('is a property, or half of a pair', () => {
    expect(column('name')).toMatchObject({ property: 'name', half: undefined, label: 'Name' });
    expect(column('max-limit')).toMatchObject({ property: 'max-limit', half: undefined, label: 'Max Limit' });
    expect(column('max-limit')?.kind.name).toBe('pair');
    expect(column('max-limit.upload')).toMatchObject({ half: 0, label: 'Upload Max Limit', kind: { name: 'rate' } });
    expect(column('max-limit.download')).toMatchObject({ half: 1, label: 'Download Max Limit' });
  });

  it.each(['weather', 'name.upload', 'max-limit.up', 'max-limit.', '.id', '', 'toString', 'max-limit.upload.x'])(
    '%j is none',
    (name) => {
      expect(column(name)).toBeUndefined();
    },
  );

  it('takes its half of the text', () => {
    const [up, down, both] = [column('max-limit.upload'), column('max-limit.download'), column('max-limit')];
    if (!up || !down || !both) throw new Error('no columns');
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (a, b) => {
        expect(columnValue(up, `${a}/${b}`)).toBe(String(a));
        expect(columnValue(down, `${a}/${b}`)).toBe(String(b));
        expect(columnValue(both, `${a}/${b}`)).toBe(`${a}/${b}`);
      }),
    );
    expect(columnValue(up, undefined)).toBeUndefined();
  });
});

describe('a pair', () => {
  const { kind } = column('max-limit') ?? {};
  it('reads its own canonical form, and one value for both', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (a, b) => {
        expect(kind?.parse(`${a}/${b}`)).toEqual({ ok: true, value: `${a}/${b}` });
        expect(kind?.parse(String(a))).toEqual({ ok: true, value: `${a}/${a}` });
      }),
    );
  });

  it('is ordered by its first half, then its second', () => {
    fc.assert(
      fc.property(fc.nat(20), fc.nat(20), fc.nat(20), fc.nat(20), (a, b, c, d) => {
        expect(Math.sign(kind?.compare?.(`${a}/${b}`, `${c}/${d}`) ?? Number.NaN)).toBe(Math.sign(a - c || b - d));
      }),
    );
  });
});
