import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { text } from '../src/props/text.js';
import { kinds } from './kinds.js';

/** Text made of what values are made of, so that many of them nearly parse. */
const nearly = fc
  .array(
    fc.constantFrom(
      ...[
        '0',
        '1',
        '7',
        '10',
        '24',
        '32',
        '255',
        '256',
        '65535',
        '65536',
        '4294967295',
        '00',
        '.',
        ':',
        '-',
        '/',
        ',',
        '!',
        '%',
        ' ',
      ],
      ...[
        '10.0.0.1',
        '192.168.88.0',
        'ether1',
        'tcp',
        'udp',
        'icmp',
        'new',
        'syn',
        'auto',
        'yes',
        'no',
        'true',
        'k',
        'M',
        'G',
        'KiB',
        'MiB',
      ],
      ...[
        's',
        'ms',
        'm',
        'h',
        'd',
        'w',
        '1d',
        '00:04:02',
        'aa:bb:cc:dd:ee:ff',
        '2026-03-01',
        '12:00:00',
        'accept',
        '',
        '\u0000',
        '\n',
        '*',
      ],
    ),
    { maxLength: 7 },
  )
  .map((parts) => parts.join(''));
const anything = fc.oneof(nearly, fc.string({ unit: 'binary', maxLength: 80 }));

describe.each(Object.entries(kinds))('kind %s', (_, kind) => {
  it('never throws, and an error says what is accepted', () => {
    fc.assert(
      fc.property(anything, (text) => {
        const parsed = kind.parse(text);
        if (!parsed.ok) {
          expect(parsed.error.length).toBeGreaterThan(5);
          expect(parsed.error).not.toMatch(/\p{Cc}/u);
          expect(parsed.error.length).toBeLessThan(600);
        }
      }),
      { numRuns: 4 * (fc.readConfigureGlobal()?.numRuns ?? 100) },
    );
  });

  it('brings a text into one form that it leaves alone, shows and compares', () => {
    let accepted = 0;
    fc.assert(
      fc.property(anything, anything, (text, other) => {
        const parsed = kind.parse(text);
        if (!parsed.ok) return;
        accepted += 1;
        expect(kind.parse(parsed.value)).toEqual(parsed);
        expect(typeof kind.display?.(parsed.value)).toBe(kind.display ? 'string' : 'undefined');
        expect(kind.compare?.(parsed.value, parsed.value) ?? 0).toBe(0);
        const second = kind.parse(other);
        if (!second.ok || !kind.compare) return;
        const order = kind.compare(parsed.value, second.value);
        expect(Math.sign(order)).toBe(-Math.sign(kind.compare(second.value, parsed.value)) + 0);
      }),
      { numRuns: 20 * (fc.readConfigureGlobal()?.numRuns ?? 100), examples: examplesFor(kind.name) },
    );
    expect(accepted, 'texts accepted among those tried').toBeGreaterThan(0);
  });

  it('shows and compares any text without throwing', () => {
    fc.assert(
      fc.property(anything, anything, (a, b) => {
        kind.display?.(a);
        expect(kind.compare?.(a, b) ?? 0).not.toBeNaN();
      }),
      { numRuns: 3 * (fc.readConfigureGlobal()?.numRuns ?? 100) },
    );
  });

  it('says in words what it accepts', () => {
    expect(kind.accepts.length).toBeGreaterThan(3);
    expect(kind.jsonSchema).toHaveProperty('type');
  });
});

/** Texts of kinds whose form chance rarely meets. */
function examplesFor(name: string): [string, string][] {
  const known: Readonly<Record<string, readonly [string, string]>> = {
    datetime: ['2026-03-01 12:00:00', '2026-03-01T12:00:01'],
    mac: ['aa-bb-cc-dd-ee-ff', '00:11:22:33:44:55'],
    'tri-set': ['syn,!ack', '!rst'],
    'ip-any': ['192.0.2.1', '2001:DB8::0:1'],
    ip6: ['2001:DB8::0:1', 'fe80::1'],
    'ip6-port': ['[2001:DB8::0:1]:443', 'fe80::1'],
    'prefix-any': ['10.0.0.0/8', '2001:DB8::/48'],
    'ip6-prefix': ['2001:DB8:0::/48', '::/0'],
    'ip6-iface-prefix': ['2001:DB8::0:1/64', 'fe80::1/10'],
    'ip6-range': ['2001:DB8::/48', '2001:db8::1-2001:db8::7'],
    'hop-limit': ['equal:1', 'less-than:64'],
    'nexthop-list': ['10.0.0.1%ether1,ether2', 'fe80::1%ether1,2001:DB8::0:1'],
    secret: ['correct horse', 'battery staple'],
    limit: ['10/1m,5', '1M,2M:bit'],
    nth: ['3,1', '4,4'],
    'volume-range': ['500000-0', '1MiB-2MiB'],
    'weekday-times': ['8h-17h,mon,tue', '22:00:00-06:00:00'],
  };
  const example = known[name];
  return example ? [[example[0], example[1]]] : [];
}

it('a text of one line holds no line ends, and no marks that turn the direction of writing', () => {
  const kind = text({ max: 64, oneLine: true });
  expect(kind.parse(' a b ')).toEqual({ ok: true, value: ' a b ' });
  for (const value of ['a\nb', 'a\tb', 'a\u202eb', 'a\u0000'])
    expect(kind.parse(value).ok, JSON.stringify(value)).toBe(false);
  expect(text().parse('a\n\tb')).toEqual({ ok: true, value: 'a\n\tb' });
});
