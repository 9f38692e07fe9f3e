import type { Principal } from '../auth/authenticator.js';
import type { Author } from '../config/record.js';

/** Who makes a change, and by what: a session is a browser's, everything else is a program's. */
export const authorOf = ({ name, address, session, stored, confirm }: Principal): Author => ({
  name,
  address,
  via: session === undefined ? 'rest' : 'web',
  stored,
  confirm,
});
