import type { Command } from '../../../command.js';
import { defineMenu } from '../../../define.js';
import type { Kind } from '../../../kind.js';
import type { BuiltinItem, Prop } from '../../../menu.js';
import { comment } from '../../../mixins/comment.js';
import { defaultFlag, defaultItem } from '../../../mixins/default-item.js';
import { bool } from '../../../props/bool.js';
import { oneOf } from '../../../props/enum.js';
import { int } from '../../../props/int.js';
import { ipAny } from '../../../props/ip-any.js';
import { fileName, name, text } from '../../../props/text.js';
import { LOGGING_WINDOW } from '../../../windows.js';

const TARGETS = ['memory', 'disk', 'echo', 'remote'] as const;

/** A property of actions with one target. */
const of = (target: (typeof TARGETS)[number], kind: Kind, label: string, standard: string, help: string): Prop => ({
  kind,
  label,
  help,
  tab: 'General',
  default: standard,
  when: { prop: 'target', values: [target] },
});

/** Numbers of facilities (RFC 5424 §6.2.1) by the names that syslog(3) has for them. */
export const SYSLOG_FACILITIES = {
  kern: 0,
  user: 1,
  mail: 2,
  daemon: 3,
  auth: 4,
  syslog: 5,
  lpr: 6,
  news: 7,
  uucp: 8,
  cron: 9,
  authpriv: 10,
  ftp: 11,
  ntp: 12,
  local0: 16,
  local1: 17,
  local2: 18,
  local3: 19,
  local4: 20,
  local5: 21,
  local6: 22,
  local7: 23,
} as const;

/** Severities of RFC 5424 §6.2.1; the index is the severity number. */
export const SYSLOG_SEVERITIES = [
  'emergency',
  'alert',
  'critical',
  'error',
  'warning',
  'notice',
  'info',
  'debug',
] as const;

const clear: Command = {
  name: 'clear',
  help: 'Deletes the messages in memory of actions with target memory.',
  target: 'selection',
  args: {},
  effect: 'action',
  result: 'nothing',
  permission: 'write',
  button: true,
};

const builtin = (id: number, values: Readonly<Record<string, string>>): BuiltinItem => ({
  id: 0x200_0300 + id,
  values: { ...values, default: 'true' },
});

/** Destinations of messages of the log. */
export const systemLoggingAction = defineMenu({
  path: '/system/logging/action',
  title: 'Logging Actions',
  singular: 'Log Action',
  kind: 'list',
  tree: ['System', 'Logging', 'Actions'],
  help: 'Destinations of log messages: memory, files, the output of the process, a syslog server.',
  props: {
    name: {
      kind: name(),
      label: 'Name',
      help: 'Name of the action, unique; for target memory also the name of the buffer.',
      tab: 'General',
      required: true,
    },
    target: {
      kind: oneOf(TARGETS),
      label: 'Type',
      help: 'Type of destination.',
      tab: 'General',
      required: true,
    },
    'memory-lines': of(
      'memory',
      int({ min: 1, max: 65_535, unit: 'messages' }),
      'Lines',
      '1000',
      'Messages that are kept at most.',
    ),
    'memory-stop-on-full': of(
      'memory',
      bool,
      'Stop on Full',
      'false',
      'When there are so many, no more are kept; otherwise the oldest go.',
    ),
    'disk-file-name': of(
      'disk',
      fileName,
      'File Name',
      'log',
      'Files are called so, and .0.txt, .1.txt and so on, the newest 0, in the folder log of the data folder.',
    ),
    'disk-lines-per-file': of(
      'disk',
      int({ min: 1, max: 65_535, unit: 'messages' }),
      'Lines per File',
      '1000',
      'Messages that a file holds.',
    ),
    'disk-file-count': of('disk', int({ min: 1, max: 100, unit: 'files' }), 'File Count', '2', 'Files that are kept.'),
    'disk-stop-on-full': of(
      'disk',
      bool,
      'Stop on Full',
      'false',
      'When all files are full, nothing more is written; otherwise the oldest goes.',
    ),
    remote: of(
      'remote',
      ipAny,
      'Remote Address',
      '0.0.0.0',
      'Address of the server, which this machine reaches by its own network; 0.0.0.0 sends nothing.',
    ),
    'remote-port': of('remote', int({ min: 1, max: 65_535 }), 'Remote Port', '514', 'Port of the server.'),
    'src-address': of(
      'remote',
      ipAny,
      'Src. Address',
      '0.0.0.0',
      'Address of this machine to send from; 0.0.0.0 leaves it to the machine.',
    ),
    'remote-log-format': of(
      'remote',
      oneOf(['default', 'syslog']),
      'Remote Log Format',
      'default',
      'Topics and message as a plain line, or with what syslog puts before it.',
    ),
    'remote-protocol': of('remote', oneOf(['udp', 'tcp']), 'Remote Protocol', 'udp', 'How messages are sent.'),
    'syslog-time-format': of(
      'remote',
      oneOf(['bsd-syslog', 'iso8601']),
      'Syslog Time Format',
      'bsd-syslog',
      'Of format syslog: bsd-syslog sends lines of RFC 3164, iso8601 those of RFC 5424.',
    ),
    'syslog-facility': of(
      'remote',
      oneOf(Object.keys(SYSLOG_FACILITIES)),
      'Syslog Facility',
      'daemon',
      'Of format syslog: the kind of program that messages are said to come from.',
    ),
    'syslog-severity': of(
      'remote',
      oneOf(['auto', ...SYSLOG_SEVERITIES]),
      'Syslog Severity',
      'auto',
      'Format syslog: severity of messages; auto takes it from their topics.',
    ),
    ...comment(),
    ...defaultItem(),
  },
  flags: [defaultFlag],
  columns: ['name', 'target', 'remote', 'comment'],
  tabs: ['General'],
  key: ['name'],
  commands: ['add', 'set', 'reset', 'remove', 'comment', clear],
  window: { tabOf: LOGGING_WINDOW },
  source: 'stored',
  builtinSettable: true,
  builtin: [
    builtin(0, { name: 'memory', target: 'memory' }),
    builtin(1, { name: 'disk', target: 'disk' }),
    builtin(2, { name: 'echo', target: 'echo' }),
    builtin(3, { name: 'remote', target: 'remote' }),
  ],
  constants: {
    // The output of the process is a file, in which messages are not lost before they are read.
    remember: { kind: bool, value: 'true' },
    'email-to': { kind: text(), value: '' },
    'email-cc': { kind: text(), value: '' },
    'email-start-tls': { kind: bool, value: 'false' },
    script: { kind: text(), value: '' },
    vrf: { kind: text(), value: 'main' },
  },
});
