import { TOPICS } from '@tollway/schema';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LogRules } from '../../src/logging/rules.js';
import type { RuleSettings } from '../../src/logging/settings.js';

const rules = (...settings: Partial<RuleSettings>[]): LogRules =>
  new LogRules(
    settings.map((each) => ({ topics: [], prefix: '', regex: undefined, action: 'memory', ...each })),
    (name) => (name === 'memory' ? 7 : name === 'echo' ? 8 : undefined),
  );

const matches = (topics: string[], message: string, text = 'text'): boolean =>
  rules({ topics }).matching(message, text).length > 0;

describe('a rule', () => {
  it.each([
    [['info'], 'system,info', true],
    [['system', 'info'], 'system,info,account', true],
    [['system', 'error'], 'system,info', false],
    [['!firewall'], 'system,info', true],
    [['!firewall'], 'firewall,info', false],
    [['info', '!account'], 'system,info,account', false],
    [['info', '!account'], 'system,info', true],
    [[], 'whatever', true],
    // A topic is no part of another one.
    [['info'], 'information', false],
  ])('of topics %j and a message of %s: %s', (topics, message, matched) => {
    expect(matches(topics, message)).toBe(matched);
  });

  it('matches when the message has all topics that it wants and none of the others', () => {
    const topics = fc.subarray([...TOPICS]);
    fc.assert(
      fc.property(topics, topics, topics, (wanted, unwanted, message) => {
        const own = unwanted.filter((topic) => !wanted.includes(topic));
        const expected =
          wanted.every((topic) => message.includes(topic)) && !own.some((topic) => message.includes(topic));
        expect(matches([...wanted, ...own.map((topic) => `!${topic}`)], message.join(','))).toBe(expected);
      }),
    );
  });

  it('looks for its expression in the message, without the prefix', () => {
    const found = rules({ regex: '^login (failure|success)', prefix: 'x', topics: ['system'] });
    expect(found.matching('system,info', 'login failure for bob')).toMatchObject([{ prefix: 'x', action: 7 }]);
    expect(found.matching('system,info', 'a login failure')).toEqual([]);
    expect(found.matching('firewall,info', 'login failure')).toEqual([]);
  });

  it('whose expression is none, as another version may have stored it, sends nothing', () => {
    expect(rules({ regex: '(' }, {}).matching('system,info', '(')).toHaveLength(1);
  });

  it('sends messages on beside other rules, also of the same action', () => {
    const both = rules({ topics: ['info'] }, { topics: ['system'], action: 'echo' }, { prefix: 'again' });
    expect(both.matching('system,info', '')).toMatchObject([
      { prefix: '', action: 7 },
      { prefix: '', action: 8 },
      { prefix: 'again', action: 7 },
    ]);
  });
});
