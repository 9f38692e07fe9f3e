import { defineMenu } from '../../define.js';
import type { BuiltinItem } from '../../menu.js';
import { comment } from '../../mixins/comment.js';
import { defaultFlag, defaultItem } from '../../mixins/default-item.js';
import { disabled, disabledFlag, invalid, invalidFlag } from '../../mixins/disabled.js';
import { reference } from '../../props/reference.js';
import { text } from '../../props/text.js';
import { TOPIC_FILTER, topicsWanted } from '../../props/topics.js';
import { LOGGING_WINDOW } from '../../windows.js';

const builtin = (id: number, topics: string, action: string): BuiltinItem => ({
  id: 0x200_0200 + id,
  values: { topics, action, default: 'true' },
});

/** Rules that send messages to the actions of the log. */
export const systemLogging = defineMenu({
  path: '/system/logging',
  title: 'Logging Rules',
  singular: 'Log Rule',
  kind: 'list',
  tree: ['System', 'Logging', 'Rules'],
  help: 'Rules that send log messages to actions; every matching rule applies.',
  props: {
    topics: {
      kind: topicsWanted,
      label: 'Topics',
      help: 'Topics that a message must have, and with ! those it must not have; none match every message.',
      tab: 'General',
      default: '',
      quickFilter: TOPIC_FILTER,
    },
    prefix: {
      kind: text({ max: 64, oneLine: true }),
      label: 'Prefix',
      help: 'Text before each message, followed by a colon.',
      tab: 'General',
      default: '',
    },
    regex: {
      kind: text({ max: 255, oneLine: true }),
      label: 'Regex',
      help: 'Only messages in which this extended regular expression of POSIX is found.',
      tab: 'General',
      unset: true,
    },
    action: {
      kind: reference('/system/logging/action', 'name'),
      label: 'Action',
      help: 'Action that gets the messages.',
      tab: 'General',
      default: 'memory',
    },
    ...comment(),
    // The data plane sends its messages to the API, which applies the rules.
    disabled: { ...disabled().disabled, dataplane: false },
    ...invalid(),
    ...defaultItem(),
  },
  flags: [disabledFlag, invalidFlag, defaultFlag],
  columns: ['topics', 'prefix', 'regex', 'action', 'comment'],
  tabs: ['General', 'Status'],
  commands: ['add', 'set', 'reset', 'unset', 'remove', 'enable', 'disable', 'comment'],
  window: { tabOf: LOGGING_WINDOW, size: [760, 420] },
  source: 'stored',
  builtinSettable: true,
  builtin: [
    builtin(0, 'info', 'memory'),
    builtin(1, 'error', 'memory'),
    builtin(2, 'warning', 'memory'),
    builtin(3, 'critical', 'echo'),
  ],
});
