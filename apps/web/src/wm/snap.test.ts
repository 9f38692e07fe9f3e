import { expect, test } from 'vitest';
import { resizedRect } from './geometry.ts';
import { snapLines, snapMove, snapResize } from './snap.ts';

const desktop = { width: 1000, height: 600 };
const other = { x: 400, y: 100, width: 300, height: 200 };
const lines = snapLines(desktop, [other]);

test('a window that comes near the desktop or another window lies against it', () => {
  expect(snapMove({ x: 6, y: -5, width: 200, height: 100 }, lines)).toMatchObject({ x: 0, y: 0 });
  expect(snapMove({ x: 195, y: 250, width: 200, height: 100 }, lines)).toMatchObject({ x: 200, y: 250 });
  expect(snapMove({ x: 796, y: 505, width: 200, height: 100 }, lines)).toMatchObject({ x: 800, y: 500 });
});

test('a window that is not near anything stays under the pointer', () => {
  const rect = { x: 40, y: 330, width: 200, height: 100 };
  expect(snapMove(rect, lines)).toEqual(rect);
});

test('only the edges that are being moved snap, and the others stay', () => {
  const rect = { x: 403, y: 320, width: 290, height: 100 };
  const step = snapResize(rect, { right: true }, lines);
  expect(step).toEqual({ dx: 7, dy: 0 });
  expect(resizedRect(rect, { right: true }, step.dx, step.dy)).toEqual({ x: 403, y: 320, width: 297, height: 100 });
});

test('a window gets no smaller than its least size, from whichever edge', () => {
  const rect = { x: 100, y: 100, width: 300, height: 200 };
  expect(resizedRect(rect, { left: true, top: true }, 500, 500)).toEqual({ x: 140, y: 170, width: 260, height: 130 });
  expect(resizedRect(rect, { right: true, bottom: true }, -500, -500)).toEqual({
    x: 100,
    y: 100,
    width: 260,
    height: 130,
  });
  expect(resizedRect(rect, { top: true }, 0, -300)).toEqual({ x: 100, y: 0, width: 300, height: 300 });
});
