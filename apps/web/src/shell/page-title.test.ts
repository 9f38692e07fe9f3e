import { expect, test } from 'vitest';
import { pageTitle } from './page-title.ts';

test('the tab names the router, who is logged in, and where', () => {
  expect(pageTitle('gateway', 'admin', '192.0.2.1')).toBe('gateway (admin@192.0.2.1) – Tollway');
  expect(pageTitle('gateway', undefined, '192.0.2.1')).toBe('Tollway – 192.0.2.1');
});

test('it does not say the name of the product twice', () => {
  expect(pageTitle('Tollway', 'admin', '127.0.0.1:8080')).toBe('admin@127.0.0.1:8080 – Tollway');
  expect(pageTitle('', 'admin', '127.0.0.1:8080')).toBe('admin@127.0.0.1:8080 – Tollway');
});
