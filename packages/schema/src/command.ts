/** What a command is: REST and OpenAPI, the rights of users and the buttons of windows follow from its declaration. */

import type { Kind } from './kind.js';
import { switchKind } from './props/bool.js';
import { words } from './props/comma-list.js';
import { duration } from './props/duration.js';
import { text } from './props/text.js';

/**
 * What a user must be allowed to do: `read` looks on and measures, `write` changes the configuration and what is live,
 * `policy` changes users. RouterOS has these names for policies of its groups.
 */
export type Policy = 'read' | 'write' | 'policy';

/** Groups of users, as RouterOS has them, each with what its users may do. */
export const GROUP_POLICIES = {
  full: ['read', 'write', 'policy'],
  write: ['read', 'write'],
  read: ['read'],
} as const satisfies Readonly<Record<string, readonly Policy[]>>;

/** Whether users of a group may do something. An unknown group may nothing. */
export function allows(group: string, policy: Policy): boolean {
  const policies = Object.entries(GROUP_POLICIES).find(([name]) => name === group)?.[1];
  return policies?.some((each) => each === policy) === true;
}

/** An argument of a command. */
export interface Argument {
  readonly kind: Kind;
  readonly help: string;
  readonly required?: boolean;
}

export interface Command {
  /** Last part of its path, `reset-counters`. */
  readonly name: string;
  /** One sentence. */
  readonly help: string;
  /** The `menu` as a whole, or a `selection` of rows, which `numbers` or `.id` name. */
  readonly target: 'menu' | 'selection';
  /** Without a selection all rows are meant. */
  readonly allByDefault?: true;
  /** Arguments beside those that name rows. Of `add` and `set` they are the properties of the menu. */
  readonly args: Readonly<Record<string, Argument>>;
  /** It only `read`s, is a `change` of rows, or an `action` that leaves rows as they are. */
  readonly effect: 'read' | 'change' | 'action';
  /** Nothing, the `.id` of a new row, or rows with these properties. */
  readonly result: 'nothing' | 'id' | readonly string[];
  readonly permission: Policy;
  /** It can be run on rows that the system made. */
  readonly dynamicRows?: true;
  /** Windows have a button for it. */
  readonly button?: true;
}

/** Arguments of a monitor: a command that answers one sample, or one each second. */
export const monitorArguments: Readonly<Record<string, Argument>> = {
  once: { kind: switchKind, help: 'Answer with one sample at once.' },
  duration: {
    kind: duration({ maxMs: 60_000 }),
    help: 'Take a sample each second for so long, at most a minute, and answer at the end.',
  },
  '.proplist': { kind: words, help: 'Properties to send, as a list or comma list.' },
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

const names = (help: string): Command['args'] => ({ 'value-name': { kind: words, help, required: true } });

/** Resets counters of rows. */
export const resetCounters: Command = {
  ...change('reset-counters', 'Counters of rows begin at zero.'),
  effect: 'action',
  button: true,
};

/** Commands that menus declare by their names. */
const COMMON: readonly Command[] = [
  { ...change('add', 'Adds a row.'), target: 'menu', result: 'id' },
  change('set', 'Changes rows.'),
  change(
    'reset',
    'Gives properties their defaults again.',
    names('Properties to give their default again, comma separated.'),
  ),
  change('remove', 'Removes rows.'),
  change('unset', 'Takes properties away.', names('Properties to take away, comma separated.')),
  change('enable', 'Switches rows on.'),
  change('disable', 'Switches rows off.'),
  change('comment', 'Gives rows a comment.', {
    comment: { kind: text({ max: 4096 }), help: 'The comment; an empty text takes it away.', required: true },
  }),
  change('move', 'Moves rows.', {
    destination: { kind: text(), help: 'Item to move before; without it, the end.' },
    'place-after': { kind: text(), help: 'Item to move after, in place of destination.' },
  }),
  resetCounters,
  {
    ...resetCounters,
    name: 'reset-counters-all',
    help: 'Counters of all rows of this menu begin at zero.',
    target: 'menu',
  },
];

const common: ReadonlyMap<string, Command> = new Map(COMMON.map((command) => [command.name, command]));

/** The command of this name that menus have in common. @throws Error when there is none */
export function commonCommand(name: string): Command {
  const command = common.get(name);
  if (command === undefined) throw new Error(`${name} is no command that menus have in common`);
  return command;
}
