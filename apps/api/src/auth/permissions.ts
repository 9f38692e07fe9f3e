import { errors } from '../errors.js';
import type { Principal } from './authenticator.js';

/** Commands that change nothing. */
const readingCommands = new Set(['print', 'monitor-traffic', 'monitor']);

/** Menus whose commands everybody may run: they change nothing, or what is one's own. */
const everybodys = new Set(['/tool/profile', '/tool/packet-trace', '/password']);

/**
 * `full` may do everything, `write` everything but users, `read` only look; all may change their own password.
 * @throws ApiError 403.
 */
export function requirePermission(principal: Principal, menu: string, command: string): void {
  if (principal.group === 'full' || readingCommands.has(command)) return;
  if (everybodys.has(menu)) return;
  if (principal.group === 'write' && menu !== '/user') return;
  throw errors.notEnoughPermissions();
}
