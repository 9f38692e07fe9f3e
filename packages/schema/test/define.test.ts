import { describe, expect, it } from 'vitest';
import { reading } from '../src/commands.js';
import { defineMenu } from '../src/define.js';
import type { MenuDeclaration, Prop } from '../src/menu.js';
import { bool } from '../src/props/bool.js';
import { int } from '../src/props/int.js';

const number: Prop = { kind: int({ min: 1, max: 8 }), label: 'Number', help: 'A number.', tab: 'General' };
const command = { name: 'count', help: 'Counts.', target: 'menu', args: {}, result: 'nothing' } as const;
const menu = (change: Partial<MenuDeclaration>): MenuDeclaration => ({
  path: '/some/menu',
  title: 'Some',
  singular: 'Some',
  kind: 'list',
  tree: ['Some'],
  help: 'Some things.',
  props: { number },
  flags: [],
  columns: ['number'],
  tabs: ['General'],
  commands: [],
  source: 'stored',
  ...change,
});

describe('defineMenu', () => {
  it('takes a menu without contradictions', () => {
    expect(defineMenu(menu({})).path).toBe('/some/menu');
  });

  it.each<[string, Partial<MenuDeclaration>, string]>([
    [
      'a read-only property that is required',
      { props: { number: { ...number, readOnly: true, required: true } } },
      'number: readOnly',
    ],
    [
      'a read-only property with a default',
      { props: { number: { ...number, readOnly: true, default: '1' } } },
      'with a default',
    ],
    [
      'a property both required and unset',
      { props: { number: { ...number, required: true, unset: true } } },
      'required and unset',
    ],
    [
      'a required property with a default',
      { props: { number: { ...number, required: true, default: '1' } } },
      'with a default',
    ],
    ['a default outside the kind', { props: { number: { ...number, default: '9' } } }, 'out of range (1..8)'],
    ['a default that is not canonical', { props: { number: { ...number, default: '01' } } }, 'not canonical'],
    [
      'a command whose default is outside the kind',
      { commands: [reading({ ...command, args: { count: { kind: number.kind, help: 'A number.', default: '9' } } })] },
      'count: default 9 is not canonical',
    ],
    ['a command without run', { kind: 'command' }, 'run belongs to menus of kind command'],
    ['a run of another name', { kind: 'command', run: reading({ ...command, name: 'other' }) }, 'run has another name'],
    ['a tab that does not exist', { props: { number: { ...number, tab: 'Extra' } } }, 'tab Extra'],
    ['a column that does not exist', { columns: ['other'] }, 'column other'],
    ['a flag of a property that is no bool', { flags: [{ letter: 'N', prop: 'number', title: 'number' }] }, 'flag N'],
    ['a key that does not exist', { key: ['name'] }, 'key name'],
    [
      'a condition on a property that does not exist',
      { props: { number: { ...number, when: { prop: 'switch', values: ['true'] } } } },
      'when names switch',
    ],
    [
      'a condition on a value that its property cannot have',
      {
        props: {
          number: { ...number, when: { prop: 'switch', values: ['perhaps'] } },
          switch: { kind: bool, label: 'Switch', help: 'A switch.', tab: 'General' },
        },
      },
      'when names perhaps',
    ],
  ])('refuses %s', (_, change, words) => {
    expect(() => defineMenu(menu(change))).toThrow(`/some/menu: `);
    expect(() => defineMenu(menu(change))).toThrow(words);
  });
});
