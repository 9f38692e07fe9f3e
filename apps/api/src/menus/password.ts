import { textOf } from '../config/content.js';
import { ApiError, errors } from '../errors.js';
import { checkArguments } from '../rest/arguments.js';
import { setPassword } from '../rest/commands/users.js';
import { type Answer, type Call, NOTHING } from '../services.js';
import type { MenuModule } from './module.js';

/** `/password`: users change the password of their own, of whatever group they are. */
async function changePassword({ services, menu, args, principal, signal }: Call): Promise<Answer> {
  checkArguments(args, Object.keys(menu.props));
  const given = (name: string): string => {
    const kind = menu.props[name]?.kind;
    if (args[name] === undefined) throw errors.missingProperty(name, kind?.accepts ?? '');
    const parsed = kind?.parse(textOf(name, args[name]));
    if (parsed?.ok !== true) throw errors.badProperty(name, `value of ${name}: ${parsed?.error}`);
    return parsed.value;
  };
  const [old, wanted, again] = [given('old-password'), given('new-password'), given('confirm-new-password')];
  if (again !== wanted) {
    throw errors.badProperty('confirm-new-password', 'value of confirm-new-password: it is not the new password');
  }
  // The old password protects a page that was left open; attempts are limited like logins.
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
