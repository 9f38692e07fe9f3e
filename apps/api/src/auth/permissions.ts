import { allows, type Policy } from '@tollway/schema';
import { errors } from '../errors.js';
import type { Principal } from './authenticator.js';

/** @throws ApiError 403 when the group of the user does not allow it. */
export function requirePermission({ group }: Principal, policy: Policy): void {
  if (!allows(group, policy)) throw errors.notEnoughPermissions();
}
