/** Declarations of commands: REST, OpenAPI, permissions and buttons follow from them. */

import type { Kind } from './kind.js';

/**
 * Permission: `read` reads and measures, `write` changes the configuration and live state, `policy` changes users. The names
 * are those of the group policies of RouterOS.
 */
export type Policy = 'read' | 'write' | 'policy';

/** Groups of users as in RouterOS, with their permissions. */
const GROUP_POLICIES = {
  full: ['read', 'write', 'policy'],
  write: ['read', 'write'],
  read: ['read'],
} as const satisfies Readonly<Record<string, readonly Policy[]>>;

/** Whether a group has a permission. An unknown group has none. */
export function allows(group: string, policy: Policy): boolean {
  const policies = Object.entries(GROUP_POLICIES).find(([name]) => name === group)?.[1];
  return policies?.some((each) => each === policy) === true;
}

/** An argument of a command. Its text is parsed by the kind before the command runs. */
export interface Argument {
  readonly kind: Kind;
  /** Description in one sentence. */
  readonly help: string;
  readonly required?: boolean;
  /** Value in force when none is given, canonical. */
  readonly default?: string;
  /** An empty text is the same as no value. */
  readonly unset?: boolean;
  /** Never sent back nor logged (passwords). */
  readonly secret?: boolean;
  /** Other names under which the same value may be given. */
  readonly aliases?: readonly string[];
}

/** Declaration of a command. */
export interface Command {
  /** Last part of its path, `reset-counters`. */
  readonly name: string;
  /** Description in one sentence. */
  readonly help: string;
  /** The `menu` as a whole, or a `selection` of rows, which `numbers` or `.id` name. */
  readonly target: 'menu' | 'selection';
  /** Applies to all rows when none is selected. */
  readonly allByDefault?: true;
  /**
   * Arguments, checked in this order. Those that name rows and, of a command that returns rows, `.proplist` are implied; of
   * `add` and `set` the properties of the menu are.
   */
  readonly args: Readonly<Record<string, Argument>>;
  /** Effect of the command: it only `read`s, is a `change` of rows, or an `action` that leaves rows as they are. */
  readonly effect: 'read' | 'change' | 'action';
  /** Result: nothing, the `.id` of a new row, or rows with these properties. */
  readonly result: 'nothing' | 'id' | readonly string[];
  readonly permission: Policy;
  /** Applies to dynamic rows too. */
  readonly dynamicRows?: true;
  /** Windows have a button for it. */
  readonly button?: true;
}

/** Whether a command returns rows, of which `.proplist` chooses properties. */
export const returnsRows = ({ result }: Command): boolean => typeof result !== 'string';
