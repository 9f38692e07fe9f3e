import type { TimeSlicer } from '../../scheduling/time-slicer.js';
import { type KeyOf, nameOf, type RowsByKey } from '../../snapshot/rows-by-key.js';
import type { FieldError, ProposedRow } from '../proposed-row.js';
import { addressIn, checkAddress, checkAddressListEntry, checkArp } from './addresses.js';
import { checkFirewallRule } from './firewall.js';
import { checkEthernet, checkInterfaceList, checkInterfaceListMember } from './interfaces.js';
import { checkQueueType, checkSimpleQueue, checkTreeQueue } from './queues.js';
import { checkRoute } from './routes.js';
import { checkUser } from './users.js';

type Check = (proposed: ProposedRow) => FieldError | undefined;

/** What must hold between the properties and rows of a menu, beyond what its schema says. */
const CHECKS: Readonly<Record<string, Check>> = {
  '/interface': checkEthernet,
  '/interface/ethernet': checkEthernet,
  '/interface/list': checkInterfaceList,
  '/interface/list/member': checkInterfaceListMember,
  '/ip/address': checkAddress,
  '/ip/route': checkRoute,
  '/ip/arp': checkArp,
  '/ip/firewall/address-list': checkAddressListEntry,
  '/ip/firewall/filter': checkFirewallRule,
  '/ip/firewall/nat': checkFirewallRule,
  '/ip/firewall/mangle': checkFirewallRule,
  '/queue/simple': checkSimpleQueue,
  '/queue/tree': checkTreeQueue,
  '/queue/type': checkQueueType,
  '/user': checkUser,
};

/** What rows are looked up by, in menus that may have a hundred thousand of them. */
const KEYS: Readonly<Record<string, readonly KeyOf[]>> = {
  '/ip/firewall/address-list': [addressIn],
  '/queue/simple': [nameOf],
  '/queue/tree': [nameOf],
};

/** Makes what rows of a menu are checked with, letting others work in between. @param menu that holds the rows */
export async function prepareChecks(menu: string, rows: RowsByKey, slicer: TimeSlicer): Promise<void> {
  for (const keyOf of KEYS[menu] ?? []) await rows.prepare(keyOf, slicer);
}

export function checkMenu(proposed: ProposedRow): FieldError[] {
  const error = CHECKS[proposed.menu.path]?.(proposed);
  return error ? [error] : [];
}
