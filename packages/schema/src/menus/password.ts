import { defineMenu } from '../define.js';
import type { Kind } from '../kind.js';
import type { Prop } from '../menu.js';
import { secret } from '../props/text.js';

const asked = (kind: Kind, label: string, help: string): Prop => ({
  kind,
  label,
  help,
  tab: 'General',
  required: true,
  secret: true,
});

const props = {
  'old-password': asked(secret({ min: 1, max: 1024 }), 'Old Password', 'The password that is changed.'),
  'new-password': asked(secret(), 'New Password', 'At least 8 characters, and none of the most common passwords.'),
  'confirm-new-password': asked(secret(), 'Confirm New Password', 'The new password once more.'),
};

/** Password of the user who runs the command. Passwords of other users are set in `/user`. */
export const password = defineMenu({
  path: '/password',
  title: 'Password',
  singular: 'Password',
  kind: 'command',
  tree: ['System', 'Password'],
  help: 'Changes the own password, for users of any group. Other sessions of the user end.',
  props,
  flags: [],
  columns: [],
  tabs: ['General'],
  commands: [],
  run: {
    name: 'password',
    help: 'Changes the password of the user who runs it.',
    target: 'menu',
    args: props,
    effect: 'action',
    result: 'nothing',
    // Users of every group may change their own password.
    permission: 'read',
  },
  window: { size: [560, 270] },
  source: 'live',
});
