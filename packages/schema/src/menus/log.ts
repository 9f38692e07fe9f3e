import type { Command } from '../command.js';
import { defineMenu } from '../define.js';
import { readOnly } from '../mixins/read-only.js';
import { text } from '../props/text.js';
import { TOPIC_FILTER, TOPICS } from '../props/topics.js';

const writes = (severity: string): Command => ({
  name: severity,
  help: `Writes a line of severity ${severity}.`,
  target: 'menu',
  // The log escapes control characters.
  args: {
    message: { kind: text({ max: 1024, controls: true }), help: 'Text of at most 1,024 characters.', required: true },
  },
  effect: 'action',
  result: 'nothing',
  permission: 'write',
});

/** Newest messages of the log. */
export const log = defineMenu({
  path: '/log',
  title: 'Log',
  singular: 'Log Entry',
  kind: 'status-list',
  tree: ['Log'],
  help: 'Messages of the router, newest last.',
  props: {
    time: readOnly(text({ sentence: true }), 'Time', 'When it happened.'),
    buffer: readOnly(text(), 'Buffer', 'Where the message is kept.'),
    topics: {
      ...readOnly({ ...text(), keywords: TOPICS }, 'Topics', 'Subjects and severity.'),
      quickFilter: TOPIC_FILTER,
    },
    message: readOnly(text({ max: 65_536, sentence: true }), 'Message', 'What happened.'),
  },
  flags: [],
  columns: ['time', 'buffer', 'topics', 'message'],
  tabs: ['General'],
  commands: ['debug', 'info', 'warning', 'error'].map(writes),
  severity: 'topics',
  refreshMs: 1_000,
  source: 'live',
});
