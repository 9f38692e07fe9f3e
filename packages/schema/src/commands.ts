/** Commands that several menus have, and functions that declare further ones. */

import type { Argument, Command } from './command.js';
import { switchKind } from './props/bool.js';
import { wordList } from './props/comma-list.js';
import { duration } from './props/duration.js';
import { text } from './props/text.js';

/** Arguments of commands that return one sample, or one each second. */
export const monitorArguments: Readonly<Record<string, Argument>> = {
  once: { kind: switchKind, help: 'Answer with one sample at once.' },
  duration: {
    kind: duration({ maxMs: 60_000, tooLong: 'longer than a minute' }),
    help: 'Take a sample each second for this time, at most a minute, and answer at the end.',
  },
};

/** Declares a command that only reads. */
export const reading = (command: Omit<Command, 'effect' | 'permission'>): Command => ({
  ...command,
  effect: 'read',
  permission: 'read',
});

const change = (name: string, help: string, args: Command['args'] = {}): Command => ({
  name,
  help,
  target: 'selection',
  args,
  effect: 'change',
  result: 'nothing',
  permission: 'write',
});

const propertyNames = wordList('a name', 'names of properties, separated by commas');
const names = (help: string): Command['args'] => ({ 'value-name': { kind: propertyNames, help, required: true } });

/** Resets counters of rows. */
export const resetCounters: Command = {
  ...change('reset-counters', 'Resets the counters of rows to zero.'),
  effect: 'action',
  button: true,
};

/** Commands that menus declare by name. */
const COMMON: readonly Command[] = [
  { ...change('add', 'Adds a row.'), target: 'menu', result: 'id' },
  change('set', 'Changes rows.'),
  change('reset', 'Sets properties to their defaults.', names('Properties to set to their defaults, comma separated.')),
  change('remove', 'Removes rows.'),
  change('unset', 'Removes properties.', names('Properties to remove, comma separated.')),
  change('enable', 'Enables rows.'),
  change('disable', 'Disables rows.'),
  change('comment', 'Sets the comment of rows.', {
    comment: { kind: text({ max: 4096 }), help: 'The comment; an empty text removes it.', required: true },
  }),
  change('move', 'Moves rows.', {
    destination: { kind: text(), help: 'Item to move before; without it, the end.' },
    'place-after': { kind: text(), help: 'Item to move after, in place of destination.' },
  }),
  resetCounters,
  {
    ...resetCounters,
    name: 'reset-counters-all',
    help: 'Resets the counters of all rows of this menu to zero.',
    target: 'menu',
  },
];

const common: ReadonlyMap<string, Command> = new Map(COMMON.map((command) => [command.name, command]));

/** The command with this name that several menus have. @throws Error when there is none */
export function commonCommand(name: string): Command {
  const command = common.get(name);
  if (command === undefined) throw new Error(`${name} is no command that menus have in common`);
  return command;
}
