import { defineMenu } from '../define.js';
import type { Call } from '../menu.js';
import { text } from '../props/text.js';

/** Words that make up the topics: subjects, then severities. */
const TOPICS = [
  'account',
  'firewall',
  'interface',
  'script',
  'system',
  'debug',
  'info',
  'warning',
  'error',
  'critical',
] as const;

const writes = (severity: string): Call => ({
  help: `Writes a line of severity ${severity}.`,
  args: { message: { help: 'Text of at most 1,024 characters.', required: true } },
  answers: [],
});

/** What happened lately. */
export const log = defineMenu({
  path: '/log',
  title: 'Log',
  singular: 'Log Entry',
  kind: 'status-list',
  tree: ['Log'],
  help: 'Messages of the router, newest last.',
  props: {
    time: { kind: text(), label: 'Time', help: 'When it happened.', tab: 'General', readOnly: true },
    buffer: { kind: text(), label: 'Buffer', help: 'Where the message is kept.', tab: 'General', readOnly: true },
    topics: {
      kind: { ...text(), also: TOPICS },
      label: 'Topics',
      help: 'Subjects and severity.',
      tab: 'General',
      readOnly: true,
    },
    message: { kind: text({ max: 65_536 }), label: 'Message', help: 'What happened.', tab: 'General', readOnly: true },
  },
  flags: [],
  columns: ['time', 'buffer', 'topics', 'message'],
  tabs: ['General'],
  commands: [],
  calls: { debug: writes('debug'), info: writes('info'), warning: writes('warning'), error: writes('error') },
  refreshMs: 1_000,
  stored: false,
});
