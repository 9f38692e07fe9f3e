import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deserialise, serialise } from './persist.ts';
import { activeId, type Content, emptyDesktop, reduce } from './reducer.ts';

const content = (name: string): Content => ({
  address: `/${name}`,
  key: `/${name}`,
  place: name,
  role: 'dialog',
  title: name,
  size: { width: 600, height: 400 },
});
const state = (
  [
    { do: 'open', content: content('gone') },
    { do: 'close', id: 'w1' },
    { do: 'open', content: content('a') },
    { do: 'open', content: content('b') },
    { do: 'open', content: content('c') },
    { do: 'maximise', id: 'w3' },
    { do: 'minimise', id: 'w4' },
    { do: 'put', id: 'w2', rect: { x: 50, y: 60, width: 400, height: 300 } },
    { do: 'focus', id: 'w2' },
  ] as const
).reduce(reduce, emptyDesktop);
const all = () => true;

test('windows, their places, their order and their modes are kept', () => {
  const again = deserialise(serialise(state, all), all);
  const shape = ({ windows }: typeof state) => windows.map(({ id: _, ...win }) => win);
  expect(again && shape(again)).toEqual(shape(state));
  const titles = ({ windows, order }: typeof state) => order.map((id) => windows.find((win) => win.id === id)?.title);
  expect(again && titles(again)).toEqual(titles(state));
  expect(again?.placements).toEqual(state.placements);
  expect(again && activeId(again)).toBe(again?.windows[0]?.id);
  // New windows get names of their own.
  const more = again && reduce(again, { do: 'open', content: content('d') });
  expect(new Set(more?.windows.map((win) => win.id)).size).toBe(4);
});

test('windows that nobody wants back are left out', () => {
  expect(
    deserialise(
      serialise(state, (win) => win.title !== 'b'),
      all,
    )?.windows.length,
  ).toBe(2);
  expect(deserialise(serialise(state, all), (win) => win.title === 'a')?.order.length).toBe(1);
});

test('nothing, nonsense and other versions are no desktop', () => {
  for (const text of [null, '', '{', '[]', '{"version":1}', '{"version":2,"windows":[]}', '"x"']) {
    expect(deserialise(text, all)).toBeUndefined();
  }
});

test('whatever stands there, what comes out is a desktop that holds together', () => {
  const good = JSON.parse(serialise(state, all));
  const odd = fc.oneof(fc.jsonValue(), fc.constantFrom(...good.windows));
  fc.assert(
    fc.property(
      fc.array(odd),
      fc.array(fc.oneof(fc.constantFrom('w2', 'w3', 'w4'), fc.jsonValue())),
      (windows, order) => {
        const read = deserialise(JSON.stringify({ version: 1, windows, order, places: windows }), all);
        expect(read && [...read.order].sort()).toEqual(read?.windows.map((win) => win.id).sort());
      },
    ),
  );
});
