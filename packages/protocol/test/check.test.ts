import { describe, expect, it } from 'vitest';
import { checkOf } from '../src/check.js';
import { subscriptions } from '../src/live/client-messages.js';
import { queueAccounting } from '../src/queue-accounting.js';
import { queueImport } from '../src/queue-import.js';

const body = checkOf(queueImport.body);
const query = checkOf(queueAccounting.query);
const menu = checkOf(subscriptions.menu);

describe('a refusal', () => {
  it.each([
    [body, {}, 'missing', 'csv', /a text with a line for each queue/],
    [body, { csv: 1 }, 'value', 'csv', /a text with a line for each queue/],
    [body, { csv: '', 'dry-run': 'yes' }, 'value', 'dry-run', /give true or false/],
    [body, { csv: '', constructor: 1 }, 'unknown', 'constructor', /^$/],
    [body, JSON.parse('{"csv":"","__proto__":{"add":true}}'), 'unknown', '__proto__', /^$/],
    [
      body,
      { csv: '', ...Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, n])) },
      'unknown',
      'k0',
      /^$/,
    ],
    [body, [], 'no-object', '', /object/],
    [body, null, 'no-object', '', /object/],
    [body, 'csv', 'no-object', '', /object/],
    [query, { from: '2026-02-30' }, 'value', 'from', /must be a day/],
    [query, { from: ['2026-02-01', '2026-02-02'] }, 'repeated', 'from', /must be a day/],
    [query, { format: 'xml' }, 'value', 'format', /json or csv/],
    [query, { toString: 'x' }, 'unknown', 'toString', /^$/],
  ])('names the property at fault', (check, value, reason, property, text) => {
    const checked = check(value);
    expect(checked).toMatchObject({ ok: false, refusal: { reason, property, text: expect.stringMatching(text) } });
  });
});

it('a value that is accepted stays what it is', () => {
  const value = { csv: 'a', 'dry-run': true };
  expect(body(value)).toEqual({ ok: true, value });
  expect(query({ from: '2024-02-29', queue: '*1a' }).ok).toBe(true);
  expect(menu({ id: 1, op: 'subscribe', topic: 'menu', menu: '/log', sort: null, filter: null, more: 1 }).ok).toBe(
    true,
  );
});
