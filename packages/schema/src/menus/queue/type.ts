import { type BuiltinItem, defineMenu } from '../../define.js';
import { bool } from '../../props/bool.js';
import { oneOf } from '../../props/enum.js';
import { int } from '../../props/int.js';
import { nameInPair } from '../../props/text.js';

const builtin = (id: number, type: string, limit: number): BuiltinItem => ({
  id,
  values: { name: type, kind: 'pfifo', 'pfifo-limit': String(limit), default: 'true' },
});

/** Ways for packets to wait. */
export const queueType = defineMenu({
  path: '/queue/type',
  title: 'Queue Types',
  singular: 'Queue Type',
  kind: 'list',
  tree: ['Queues', 'Queue Types'],
  help: 'How packets wait in a queue, and how many may.',
  props: {
    name: {
      kind: nameInPair,
      label: 'Type Name',
      help: 'Name of the type, unique, without slashes.',
      tab: 'General',
      required: true,
      dataplane: true,
    },
    kind: {
      kind: oneOf(['pfifo']),
      label: 'Kind',
      help: 'First in, first out, bounded in packets.',
      tab: 'General',
      required: true,
      dataplane: true,
    },
    'pfifo-limit': {
      kind: int({ min: 1, max: 4_294_967_295 }),
      label: 'Queue Size',
      help: 'Packets that may wait; the next one is dropped.',
      tab: 'General',
      default: '50',
      when: { prop: 'kind', values: ['pfifo'] },
      dataplane: true,
    },
    default: {
      kind: bool,
      label: 'Default',
      help: 'Always present and not changeable.',
      tab: 'General',
      readOnly: true,
    },
  },
  flags: [{ letter: '*', prop: 'default', title: 'default' }],
  columns: ['name', 'kind', 'pfifo-limit'],
  tabs: ['General'],
  key: ['name'],
  commands: ['add', 'set', 'remove'],
  stored: true,
  builtin: [
    builtin(0x200_0100, 'default', 50),
    builtin(0x200_0101, 'ethernet-default', 50),
    builtin(0x200_0102, 'default-small', 10),
  ],
});
