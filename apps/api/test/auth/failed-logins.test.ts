import { expect, it } from 'vitest';
import { FailureReport } from '../../src/auth/failed-logins.js';

it('failed logins that were only counted are one failure or several failures', () => {
  const reported: string[] = [];
  const report = new FailureReport(({ text }) => reported.push(text));
  for (const user of ['boss', 'boss', 'guest', 'guest', 'guest']) report.add(user, '192.0.2.1');
  report.flush();
  expect(reported.slice(2)).toEqual([
    '1 more login failure for user boss from 192.0.2.1',
    '2 more login failures for user guest from 192.0.2.1',
  ]);
});
