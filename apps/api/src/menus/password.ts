import { ApiError, errors } from '../errors.js';
import { type Answer, type CommandCall, NOTHING } from '../services.js';
import type { MenuModule } from './module.js';
import { setPassword } from './user.js';

/** `/password`: users of any group change their own password. */
async function changePassword({ services, values, principal, signal }: CommandCall): Promise<Answer> {
  const { 'old-password': old = '', 'new-password': wanted = '', 'confirm-new-password': confirmation } = values;
  if (confirmation !== wanted) {
    throw errors.badProperty('confirm-new-password', 'value of confirm-new-password: it is not the new password');
  }
  // Asking for the old password protects a page that was left open; attempts are limited like logins.
  await services.authenticator.login(principal.name, old, principal.address, signal).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    throw errors.badProperty('old-password', `value of old-password: it is not the password of ${principal.name}`);
  });
  await setPassword(services, principal, wanted, 'new-password');
  return NOTHING;
}

export const password: MenuModule = {
  path: '/password',
  run: changePassword,
};
