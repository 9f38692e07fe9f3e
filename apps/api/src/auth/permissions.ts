import { errors } from '../errors.js';
import type { Principal } from './authenticator.js';

/** Commands that change nothing. */
const readingCommands = new Set(['print', 'monitor-traffic', 'monitor']);

/** Menus whose commands all change nothing. */
const looking = new Set(['/tool/profile', '/tool/packet-trace']);

/**
 * `full` may do everything, `write` everything but users, `read` only look.
 * @throws ApiError 403.
 */
export function requirePermission(principal: Principal, menu: string, command: string): void {
  if (principal.group === 'full' || readingCommands.has(command)) return;
  if (looking.has(menu)) return;
  if (principal.group === 'write' && menu !== '/user') return;
  throw errors.notEnoughPermissions();
}
