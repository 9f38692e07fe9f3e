import { afterEach, expect, test } from 'vitest';
import { dateAndTime, followZone, timeOfDay } from './router-clock.ts';

const AT = Date.UTC(2026, 10, 26, 18, 49, 26);

afterEach(() => followZone(''));

test('times are those of the router’s clock, with summer time where it is in force', () => {
  followZone('Asia/Kolkata');
  expect(dateAndTime(AT)).toBe('2026-11-27 00:19:26');
  followZone('America/New_York');
  expect([timeOfDay(AT), timeOfDay(Date.UTC(2026, 6, 1, 4))]).toEqual(['13:49:26', '00:00:00']);
});

test('a zone that the browser does not know is no reason to show nothing', () => {
  followZone('Nowhere/Land');
  expect(dateAndTime(AT)).toMatch(/^2026-11-2[567] \d\d:\d\d:26$/);
});
