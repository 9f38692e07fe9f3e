import type { Prop } from '../menu.js';
import { comment } from './comment.js';
import { counters } from './counters.js';
import { disabled, disabledFlag, dynamic, dynamicFlag, invalid, invalidFlag } from './disabled.js';
import { logging } from './firewall-match.js';

/** Properties that all menus of firewall rules have, in addition to conditions and actions. */

/** Properties of every rule after those of its action, in the order of the dialog. */
export const ruleState: Readonly<Record<string, Prop>> = {
  ...logging,
  ...counters(),
  ...disabled(),
  ...comment(),
  ...invalid('Statistics'),
  ...dynamic('Statistics'),
};

/** Columns of the conditions that most rules have. */
export const MATCH_COLUMNS = [
  'src-address',
  'dst-address',
  'protocol',
  'src-port',
  'dst-port',
  'in-interface',
  'out-interface',
  'in-interface-list',
  'out-interface-list',
  'src-address-list',
  'dst-address-list',
] as const;

/** The part of their declarations that all lists of rules have. */
export const ruleList = {
  kind: 'ordered',
  flags: [disabledFlag, invalidFlag, dynamicFlag],
  tabs: ['General', 'Advanced', 'Extra', 'Action', 'Statistics'],
  commands: [
    'add',
    'set',
    'reset',
    'remove',
    'unset',
    'enable',
    'disable',
    'comment',
    'move',
    'reset-counters',
    'reset-counters-all',
  ],
  refreshMs: 1_000,
  source: 'stored',
} as const;
