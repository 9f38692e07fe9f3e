import type { Principal } from '../auth/authenticator.js';
import type { Author } from '../config/revision-storage.js';

/** The author of a change: requests with a session come from a browser, all others from programs. */
export const authorOf = ({ name, address, session, onRevision, confirm }: Principal): Author => ({
  name,
  address,
  via: session === undefined ? 'rest' : 'web',
  onRevision,
  confirm,
});
