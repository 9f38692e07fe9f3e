import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printable } from '../../src/logging/message.js';
import { remoteLine } from '../../src/logging/syslog.js';

const AT = Date.UTC(2003, 9, 11, 22, 14, 15, 3);
const settings = { format: 'syslog', timeFormat: 'iso8601', facility: 'local4', severity: 'notice' } as const;
const line = (message: object, more: object = {}, hostname = 'mymachine'): string =>
  remoteLine({ timeMs: AT, topics: 'system,info', text: 'hello', ...message }, { ...settings, ...more }, hostname);

describe('a line of RFC 5424', () => {
  it('has the priority and the time of the examples of §6.5', () => {
    // Facility local4, severity notice; facility auth, severity critical.
    expect(line({})).toBe('<165>1 2003-10-11T22:14:15.003Z mymachine tollway - system,info - hello');
    expect(line({}, { facility: 'auth', severity: 'critical' })).toMatch(/^<34>1 2003-10-11T22:14:15\.003Z /);
  });

  it.each([
    ['system,info', 6],
    ['system,error,critical', 2],
    ['firewall,error', 3],
    ['interface,warning', 4],
    ['script,debug', 7],
    ['system,info,account', 6],
    ['system', 6],
  ])('%s is of severity %i when that goes by the topics', (topics, severity) => {
    expect(line({ topics }, { facility: 'kern', severity: 'auto' })).toMatch(new RegExp(`^<${severity}>1 `));
    expect(line({ topics }, { facility: 'local7', severity: 'auto' })).toMatch(new RegExp(`^<${184 + severity}>1 `));
  });

  it('names no host and no topics that its header could not hold', () => {
    expect(line({}, {}, 'my router')).toContain('Z my-router tollway ');
    expect(line({}, {}, '')).toContain('Z - tollway ');
    expect(line({}, {}, 'Büro')).toContain('Z B-ro tollway ');
    expect(line({ topics: 'a'.repeat(40) })).toContain(` ${'a'.repeat(32)} - hello`);
  });

  it('begins texts beyond ASCII as UTF-8', () => {
    expect(line({ text: 'Grüße' })).toMatch(/ - \uFEFFGrüße$/);
    expect(line({ text: 'plain' })).toMatch(/ - plain$/);
  });

  it('is one line with nine fields before the text, whatever the message', () => {
    const any = fc.string({ unit: 'binary', maxLength: 60 });
    fc.assert(
      fc.property(any, any, (text, hostname) => {
        const written = line({ text: printable(text) }, {}, hostname);
        expect(written).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
        expect(written).toMatch(/^<165>1 [!-~]+ [!-~]{1,255} tollway - system,info - /);
      }),
    );
  });
});

it('a line of RFC 3164 has the time of the router, and a day of two places', () => {
  const at = new Date(2026, 2, 5, 7, 8, 9).getTime();
  const bsd = { timeFormat: 'bsd-syslog', facility: 'daemon', severity: 'auto' };
  expect(line({ timeMs: at, topics: 'system,error' }, bsd)).toBe(
    '<27>Mar  5 07:08:09 mymachine tollway: system,error hello',
  );
  expect(line({ timeMs: new Date(2026, 11, 25, 23, 0, 0).getTime() }, bsd)).toBe(
    '<30>Dec 25 23:00:00 mymachine tollway: system,info hello',
  );
});

it('a plain line has topics and message', () => {
  expect(line({}, { format: 'default' })).toBe('system,info hello');
});
