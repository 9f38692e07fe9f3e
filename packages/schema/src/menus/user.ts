import { defineMenu } from '../define.js';
import { comment } from '../mixins/comment.js';
import { disabled, disabledFlag } from '../mixins/disabled.js';
import { readOnly } from '../mixins/read-only.js';
import { datetime } from '../props/datetime.js';
import { oneOf } from '../props/enum.js';
import { secret, userName } from '../props/text.js';

const { disabled: switchedOff } = disabled();

/** Users that may log in. Kept apart from the configuration rows: passwords are stored as argon2id hashes only. */
export const user = defineMenu({
  path: '/user',
  title: 'Users',
  singular: 'User',
  kind: 'list',
  tree: ['System', 'Users'],
  help: 'Users of the router and their groups.',
  props: {
    name: {
      kind: userName,
      label: 'Name',
      help: 'Login name, unique also in another case.',
      tab: 'General',
      required: true,
    },
    group: {
      kind: oneOf(['full', 'write', 'read']),
      label: 'Group',
      help: 'Permissions: full all, write all but users, read only reading.',
      tab: 'General',
      required: true,
    },
    password: {
      kind: secret(),
      label: 'Password',
      help: 'At least 8 characters, and none of the most common passwords.',
      tab: 'General',
      required: true,
      secret: true,
    },
    'last-logged-in': readOnly(
      datetime,
      'Last Logged In',
      'Time of the last login on the page. REST requests, each of which carries the password, do not count.',
    ),
    disabled: { ...switchedOff, dataplane: false },
    ...comment(),
  },
  flags: [disabledFlag],
  columns: ['name', 'group', 'last-logged-in', 'comment'],
  tabs: ['General'],
  key: ['name'],
  policy: 'policy',
  commands: ['add', 'set', 'reset', 'remove', 'enable', 'disable', 'comment'],
  source: 'stored',
  undoable: false,
  logins: true,
});
