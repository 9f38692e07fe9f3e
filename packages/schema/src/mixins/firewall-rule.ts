import type { Prop } from '../menu.js';
import { comment } from './comment.js';
import { counters } from './counters.js';
import { disabled, disabledFlag, dynamic, dynamicFlag, invalid, invalidFlag } from './disabled.js';
import { logging } from './firewall-match.js';

/** Properties that menus of firewall rules have in common beside conditions and actions. */

/** Properties of every rule behind those of its action, in the order of the dialog. */
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

/** Declaration that lists of rules have in common. */
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
