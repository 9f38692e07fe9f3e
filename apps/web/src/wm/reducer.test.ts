import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KEEP_PX, TITLE_PX } from './geometry.ts';
import {
  type Action,
  activeId,
  type Content,
  type DesktopState,
  emptyDesktop,
  reduce,
  shownRect,
  windowOf,
} from './reducer.ts';

const content = (name: string): Content => ({
  address: `/${name}`,
  key: `/${name}`,
  place: name.slice(0, 1),
  role: 'region',
  title: name,
  size: { width: 600, height: 400 },
});
const run = (...actions: Action[]) => actions.reduce(reduce, emptyDesktop);
const opened = (...names: string[]) => run(...names.map((name) => ({ do: 'open', content: content(name) }) as const));

test('the same content is opened once, unless another window is asked for', () => {
  const state = opened('a', 'b', 'a');
  expect(state.windows.map((win) => win.title)).toEqual(['a', 'b']);
  expect(activeId(state)).toBe('w1');
  const two = reduce(state, { do: 'open', content: content('a'), another: true });
  expect(two.windows.map((win) => win.title)).toEqual(['a', 'b', 'a']);
  expect(activeId(two)).toBe('w3');
});

test('opening a window that shows another tab brings it to that tab', () => {
  const state = reduce(opened('a'), { do: 'open', content: { ...content('a'), address: '/a/tab' } });
  expect(state.windows).toMatchObject([{ id: 'w1', address: '/a/tab' }]);
});

test('when a window closes or is minimised, the one below takes the keys', () => {
  const state = opened('a', 'b', 'c');
  expect(activeId(reduce(state, { do: 'close', id: 'w3' }))).toBe('w2');
  const small = reduce(state, { do: 'minimise', id: 'w3' });
  expect(activeId(small)).toBe('w2');
  expect(activeId(reduce(small, { do: 'focus', id: 'w3' }))).toBe('w3');
  expect(activeId(reduce(small, { do: 'minimise-all' }))).toBeUndefined();
});

test('new windows cascade, and a closed one opens again where it was', () => {
  const state = opened('a', 'b');
  const [a, b] = state.windows.map((win) => shownRect(win, state.desktop));
  expect(b).toEqual({ ...a, x: (a?.x ?? 0) + 28, y: (a?.y ?? 0) + 28 });
  const rect = { x: 300, y: 200, width: 500, height: 300 };
  const again = [
    { do: 'put', id: 'w1', rect },
    { do: 'close', id: 'w1' },
    { do: 'open', content: content('a') },
  ] as const;
  expect(again.reduce(reduce, state).windows.at(-1)?.rect).toEqual(rect);
});

test('a maximised window fills the desktop and finds its place again', () => {
  const state = reduce(opened('a'), { do: 'maximise', id: 'w1' });
  const before = opened('a').windows[0]?.rect;
  const [win] = state.windows;
  expect(win && shownRect(win, state.desktop)).toEqual({ x: 0, y: 0, ...emptyDesktop.desktop });
  const [after] = reduce(state, { do: 'restore', id: 'w1' }).windows;
  expect(after && shownRect(after, state.desktop)).toEqual(before);
});

test('windows come back to their places when a desktop that had shrunk grows', () => {
  const rect = { x: 700, y: 350, width: 480, height: 340 };
  const put = reduce(opened('a'), { do: 'put', id: 'w1', rect });
  const small = reduce(put, { do: 'desktop', size: { width: 800, height: 500 } });
  const at = (state: DesktopState) => state.windows.map((win) => shownRect(win, state.desktop))[0];
  expect(at(small)).toEqual({ x: 320, y: 160, width: 480, height: 340 });
  expect(at(reduce(small, { do: 'desktop', size: emptyDesktop.desktop }))).toEqual(rect);
});

test('a window gets the height of its content, and keeps the one that somebody gave it', () => {
  const heights = (...actions: Action[]) => actions.reduce(reduce, opened('a')).windows.map((win) => win.rect.height);
  expect(heights({ do: 'fit', id: 'w1', height: 250 })).toEqual([250]);
  expect(heights({ do: 'fit', id: 'w1', height: 250 }, { do: 'fit', id: 'w1', height: 300 })).toEqual([300]);
  expect(heights({ do: 'fit', id: 'w1', height: 5000 })).toEqual([emptyDesktop.desktop.height - 32]);
  const rect = { x: 0, y: 0, width: 500, height: 333 };
  expect(heights({ do: 'put', id: 'w1', rect }, { do: 'fit', id: 'w1', height: 250 })).toEqual([333]);
  const moved = { do: 'put', id: 'w1', rect: { x: 0, y: 40, width: 600, height: 400 } } as const;
  expect(heights(moved, { do: 'fit', id: 'w1', height: 250 })).toEqual([250]);
});

test('a window that nobody sized opens where the last of its kind was, as large as its own content wants', () => {
  const place = { x: 40, y: 60, width: 600, height: 400 };
  const again = (...actions: Action[]) => {
    const closed = [...actions, { do: 'close', id: 'w1' } as const].reduce(reduce, opened('a'));
    return reduce(closed, { do: 'open', content: content('a') }).windows[0]?.rect;
  };
  expect(again({ do: 'put', id: 'w1', rect: place }, { do: 'fit', id: 'w1', height: 250 })).toEqual(place);
  expect(again({ do: 'put', id: 'w1', rect: { ...place, height: 250 } })).toEqual({ ...place, height: 250 });
});

test('next and previous go round through all windows', () => {
  let state = opened('a', 'b', 'c');
  const seen = [];
  for (let i = 0; i < 3; i++) {
    state = reduce(state, { do: 'next' });
    seen.push(activeId(state));
  }
  expect(seen).toEqual(['w1', 'w2', 'w3']);
  expect(activeId(reduce(state, { do: 'previous' }))).toBe('w2');
});

const coordinate = fc.integer({ min: -3000, max: 3000 });
const length = fc.integer({ min: 0, max: 4000 });
const id = fc.integer({ min: 1, max: 12 }).map((n) => `w${n}`);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('open' as const),
      content: fc.constantFrom(...['a1', 'a2', 'b', 'c'].map(content)),
      another: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('focus', 'minimise', 'maximise', 'restore', 'close'), id }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      id,
      rect: fc.record({ x: coordinate, y: coordinate, width: length, height: length }),
    }),
  },
  fc.record({
    do: fc.constant('show' as const),
    id,
    address: fc.constantFrom('/x', '/y'),
    key: fc.constantFrom('/a1', '/y'),
  }),
  fc.record({ do: fc.constant('fit' as const), id, height: length }),
  fc.record({ do: fc.constant('rename' as const), id, title: fc.constantFrom('x', 'y') }),
  fc.record({
    do: fc.constant('desktop' as const),
    size: fc.record({ width: fc.integer({ min: 320, max: 2000 }), height: fc.integer({ min: 200, max: 1400 }) }),
  }),
  fc.record({ do: fc.constantFrom('next', 'previous', 'cascade', 'minimise-all', 'close-all') }),
);

test('whatever happens, every window can be reached, z is an order of all windows, and one window takes the keys', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
      let state: DesktopState = emptyDesktop;
      for (const each of actions) {
        state = reduce(state, each);
        expect([...state.order].sort()).toEqual(state.windows.map((win) => win.id).sort());
        expect(new Set(state.order).size).toBe(state.order.length);
        const active = activeId(state);
        expect(active === undefined).toBe(state.windows.every((win) => win.minimised));
        for (const win of state.windows) {
          const rect = shownRect(win, state.desktop);
          const visible = Math.min(rect.x + rect.width, state.desktop.width) - Math.max(rect.x, 0);
          expect(visible).toBeGreaterThanOrEqual(Math.min(KEEP_PX, rect.width));
          expect(rect.y).toBeGreaterThanOrEqual(0);
          expect(rect.y).toBeLessThanOrEqual(state.desktop.height - TITLE_PX);
          expect(rect.width).toBeLessThanOrEqual(state.desktop.width);
        }
      }
    }),
    { numRuns: 4 * (fc.readConfigureGlobal()?.numRuns ?? 100) },
  );
});

test('no window leaves the desktop at the left, and what hung over an edge opens whole', () => {
  const left = reduce(opened('a'), { do: 'put', id: 'w1', rect: { x: -300, y: 40, width: 600, height: 400 } });
  const at = (state: typeof left, id: string) => {
    const win = windowOf(state, id);
    return win === undefined ? undefined : shownRect(win, state.desktop);
  };
  expect(at(left, 'w1')).toMatchObject({ x: 0, width: 600 });
  const right = reduce(left, { do: 'put', id: 'w1', rect: { x: 1100, y: 650, width: 600, height: 400 } });
  expect(at(right, 'w1')).toMatchObject({ x: right.desktop.width - KEEP_PX });
  const again = [{ do: 'close', id: 'w1' } as const, { do: 'open', content: content('a') } as const].reduce(
    reduce,
    right,
  );
  expect(at(again, again.windows[0]?.id ?? '')).toMatchObject({
    x: again.desktop.width - 600,
    y: again.desktop.height - 400,
    width: 600,
    height: 400,
  });
});
