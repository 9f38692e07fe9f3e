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

/** The password of who runs it. Those of others are properties of `/user`. */
export const password = defineMenu({
  path: '/password',
  title: 'Password',
  singular: 'Password',
  kind: 'command',
  tree: ['System', 'Password'],
  help: 'Changes the password of the user who asks, whatever the group. Sessions of the user elsewhere end.',
  props: {
    'old-password': asked(secret({ min: 1, max: 1024 }), 'Old Password', 'The password that is changed.'),
    'new-password': asked(secret(), 'New Password', 'At least 8 characters, and none of the most common passwords.'),
    'confirm-new-password': asked(secret(), 'Confirm New Password', 'The new password once more.'),
  },
  flags: [],
  columns: [],
  tabs: ['General'],
  commands: [],
  // Everybody may change a password of one's own.
  run: { effect: 'action', permission: 'read' },
  window: { size: [560, 270] },
  source: 'live',
});
