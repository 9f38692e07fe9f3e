/** All menus, in the order of the menu tree, and within a window in the order of its tabs. */

import type { Menu } from './menu.js';
import { ethernet } from './menus/interface/ethernet.js';
import { interfaceListMember } from './menus/interface/list/member.js';
import { interfaceList } from './menus/interface/list.js';
import { loopback } from './menus/interface/loopback.js';
import { vlan } from './menus/interface/vlan.js';
import { interfaces } from './menus/interface.js';
import { ipAddress } from './menus/ip/address.js';
import { ipArp } from './menus/ip/arp.js';
import { addressList } from './menus/ip/firewall/address-list.js';
import { connectionTracking } from './menus/ip/firewall/connection/tracking.js';
import { firewallConnection } from './menus/ip/firewall/connection.js';
import { firewallFilter } from './menus/ip/firewall/filter.js';
import { firewallMangle } from './menus/ip/firewall/mangle.js';
import { firewallNat } from './menus/ip/firewall/nat.js';
import { ipRoute } from './menus/ip/route.js';
import { ipFastPath } from './menus/ip/settings/fast-path.js';
import { ipSlowPath } from './menus/ip/settings/slow-path.js';
import { ipSettings } from './menus/ip/settings.js';
import { ipVrf } from './menus/ip/vrf.js';
import { ipv6AddressMenu } from './menus/ipv6/address.js';
import { ipv6AddressList } from './menus/ipv6/firewall/address-list.js';
import { ipv6Connection } from './menus/ipv6/firewall/connection.js';
import { ipv6Filter } from './menus/ipv6/firewall/filter.js';
import { ipv6Mangle } from './menus/ipv6/firewall/mangle.js';
import { ipv6Nat } from './menus/ipv6/firewall/nat.js';
import { ipv6Neighbor } from './menus/ipv6/neighbor.js';
import { ipv6Route } from './menus/ipv6/route.js';
import { ipv6Settings } from './menus/ipv6/settings.js';
import { log } from './menus/log.js';
import { password } from './menus/password.js';
import { interfaceQueue } from './menus/queue/interface.js';
import { queueLint } from './menus/queue/lint.js';
import { simpleQueue } from './menus/queue/simple.js';
import { queueTree } from './menus/queue/tree.js';
import { queueType } from './menus/queue/type.js';
import { routingRule } from './menus/routing/rule.js';
import { routingTable } from './menus/routing/table.js';
import { systemIdentity } from './menus/system/identity.js';
import { systemLoggingAction } from './menus/system/logging/action.js';
import { systemLogging } from './menus/system/logging.js';
import { systemResourceCpu } from './menus/system/resource/cpu.js';
import { systemResource } from './menus/system/resource.js';
import { toolPacketTrace } from './menus/tool/packet-trace.js';
import { toolProfile } from './menus/tool/profile.js';
import { user } from './menus/user.js';

export const registry: readonly Menu[] = [
  interfaces,
  interfaceListMember,
  ethernet,
  vlan,
  loopback,
  interfaceList,
  ipArp,
  ipAddress,
  firewallFilter,
  firewallNat,
  firewallMangle,
  firewallConnection,
  addressList,
  connectionTracking,
  ipRoute,
  ipSettings,
  ipFastPath,
  ipSlowPath,
  ipVrf,
  ipv6AddressMenu,
  ipv6Filter,
  ipv6Nat,
  ipv6Mangle,
  ipv6AddressList,
  ipv6Connection,
  ipv6Neighbor,
  ipv6Route,
  ipv6Settings,
  routingTable,
  routingRule,
  simpleQueue,
  interfaceQueue,
  queueTree,
  queueType,
  queueLint,
  systemIdentity,
  systemLogging,
  systemLoggingAction,
  systemResource,
  systemResourceCpu,
  user,
  password,
  log,
  toolPacketTrace,
  toolProfile,
];

const byPath: ReadonlyMap<string, Menu> = new Map(registry.map((menu) => [menu.path, menu]));

/** Menu of a REST path such as `/ip/address`. */
export const menuByPath = (path: string): Menu | undefined => byPath.get(path);
