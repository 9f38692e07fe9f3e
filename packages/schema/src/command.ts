/** What a command is: REST and OpenAPI, the rights of users and the buttons of windows follow from its declaration. */

import type { Kind } from './kind.js';

/**
 * What a user must be allowed to do: `read` looks on and measures, `write` changes the configuration and what is live,
 * `policy` changes users. RouterOS has these names for policies of its groups.
 */
export type Policy = 'read' | 'write' | 'policy';

/** Groups of users, as RouterOS has them, each with what its users may do. */
const GROUP_POLICIES = {
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
