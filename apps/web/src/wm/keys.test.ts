import { expect, test } from 'vitest';
import { movedByKey } from './keyboard-move.ts';
import { desktopCommand } from './keys.ts';

const none = { code: '', ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };

test('the desktop takes the keys that RouterOS users know, and stand-ins for those that browsers keep', () => {
  expect(desktopCommand({ ...none, key: 'F4' })).toBe('close');
  expect(desktopCommand({ ...none, key: 'F4', ctrlKey: true })).toBe('close');
  expect(desktopCommand({ ...none, key: '∑', code: 'KeyW', altKey: true })).toBe('close');
  expect(desktopCommand({ ...none, key: 'F6' })).toBe('next');
  expect(desktopCommand({ ...none, key: 'F6', shiftKey: true })).toBe('previous');
  expect(desktopCommand({ ...none, key: ']', code: 'BracketRight', altKey: true })).toBe('next');
  expect(desktopCommand({ ...none, key: '-', code: 'Minus', altKey: true })).toBe('menu');
  expect(desktopCommand({ ...none, key: 'Escape' })).toBe('escape');
});

test('what belongs to the browser or to a table is left alone', () => {
  expect(desktopCommand({ ...none, key: 'w', code: 'KeyW', ctrlKey: true })).toBeUndefined();
  expect(desktopCommand({ ...none, key: 'w', code: 'KeyW' })).toBeUndefined();
  expect(desktopCommand({ ...none, key: 'F5' })).toBeUndefined();
  expect(desktopCommand({ ...none, key: 'ArrowUp', altKey: true })).toBeUndefined();
  expect(desktopCommand({ ...none, key: '@', code: 'KeyW', altKey: true, ctrlKey: true })).toBeUndefined();
});

test('arrow keys move or stretch, finely with Shift; others do nothing', () => {
  const rect = { x: 100, y: 100, width: 400, height: 300 };
  expect(movedByKey(rect, 'move', 'ArrowLeft', false)).toEqual({ ...rect, x: 84 });
  expect(movedByKey(rect, 'resize', 'ArrowDown', true)).toEqual({ ...rect, height: 302 });
  expect(movedByKey({ ...rect, width: 262 }, 'resize', 'ArrowLeft', false)?.width).toBe(260);
  expect(movedByKey(rect, 'move', 'a', false)).toBeUndefined();
});
