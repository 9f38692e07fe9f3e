import { type Menu, registry } from '@tollway/schema';
import { type Compile, compileMenus } from '../compiler/compile.js';
import type { ChecksByMenu } from '../config/menu-checks.js';
import type { MenuCommands } from '../services.js';
import { liveRowsView, storedView } from '../view/live-rows.js';
import type { View } from '../view/rows.js';
import { settingsView } from '../view/settings.js';
import { ethernet } from './interface/ethernet.js';
import { interfaceListMember } from './interface/list/member.js';
import { interfaceList } from './interface/list.js';
import { loopback } from './interface/loopback.js';
import { vlan } from './interface/vlan.js';
import { interfaces } from './interface.js';
import { ipAddress } from './ip/address.js';
import { ipArp } from './ip/arp.js';
import { addressList } from './ip/firewall/address-list.js';
import { connectionTracking } from './ip/firewall/connection/tracking.js';
import { firewallConnection } from './ip/firewall/connection.js';
import { firewallFilter } from './ip/firewall/filter.js';
import { firewallMangle } from './ip/firewall/mangle.js';
import { firewallNat } from './ip/firewall/nat.js';
import { ipRoute } from './ip/route.js';
import { ipFastPath } from './ip/settings/fast-path.js';
import { ipSlowPath } from './ip/settings/slow-path.js';
import { ipSettings } from './ip/settings.js';
import { ipVrf } from './ip/vrf.js';
import { ipv6Address } from './ipv6/address.js';
import { ipv6AddressList } from './ipv6/firewall/address-list.js';
import { ipv6Connection } from './ipv6/firewall/connection.js';
import { ipv6Filter } from './ipv6/firewall/filter.js';
import { ipv6Mangle } from './ipv6/firewall/mangle.js';
import { ipv6Nat } from './ipv6/firewall/nat.js';
import { ipv6Neighbor } from './ipv6/neighbor.js';
import { ipv6Route } from './ipv6/route.js';
import { ipv6Settings } from './ipv6/settings.js';
import { log } from './log.js';
import type { MenuModule, ViewSources } from './module.js';
import { password } from './password.js';
import { interfaceQueue } from './queue/interface.js';
import { queueLint } from './queue/lint.js';
import { simpleQueue } from './queue/simple.js';
import { queueTree } from './queue/tree.js';
import { queueType } from './queue/type.js';
import { routingRule } from './routing/rule.js';
import { routingTable } from './routing/table.js';
import { systemLoggingAction } from './system/logging/action.js';
import { systemLogging } from './system/logging.js';
import { systemResourceCpu } from './system/resource/cpu.js';
import { systemResource } from './system/resource.js';
import { toolPacketTrace } from './tool/packet-trace.js';
import { toolProfile } from './tool/profile.js';
import { user } from './user.js';

/** All modules of menus, ordered by path. A test requires one for each menu that needs it. */
export const menuModules: readonly MenuModule[] = [
  interfaces,
  ethernet,
  interfaceList,
  interfaceListMember,
  vlan,
  loopback,
  ipAddress,
  ipArp,
  addressList,
  firewallConnection,
  connectionTracking,
  firewallFilter,
  firewallMangle,
  firewallNat,
  ipRoute,
  ipSettings,
  ipFastPath,
  ipSlowPath,
  ipVrf,
  ipv6Address,
  ipv6AddressList,
  ipv6Connection,
  ipv6Filter,
  ipv6Mangle,
  ipv6Nat,
  ipv6Neighbor,
  ipv6Route,
  ipv6Settings,
  routingTable,
  routingRule,
  log,
  password,
  interfaceQueue,
  queueLint,
  simpleQueue,
  queueTree,
  queueType,
  systemLogging,
  systemLoggingAction,
  systemResource,
  systemResourceCpu,
  toolPacketTrace,
  toolProfile,
  user,
];

const byPath: ReadonlyMap<string, MenuModule> = new Map(menuModules.map((module) => [module.path, module]));

/** Checks of menus beyond their declarations, by path. */
export const menuChecks: ChecksByMenu = byPath;

const compilers = registry.flatMap(({ path }) => byPath.get(path)?.compile ?? []);

/** Compiles the stored configuration for the data plane. */
export const compile: Compile = (snapshot, utcOffsetS = 0) => compileMenus(compilers, snapshot, utcOffsetS);

/** Commands of menus, by path. */
export const menuCommands: ReadonlyMap<string, MenuCommands> = byPath;

/** Views of menus by path. Menus of kind `command` have none. */
export function createViews(sources: ViewSources): ReadonlyMap<string, View> {
  return new Map(
    registry.flatMap((menu) => {
      const module = byPath.get(menu.path);
      const read = module?.liveRows?.(sources);
      const joined = read && liveRowsView(menu, sources.store, read);
      const view = module?.view?.(menu, sources) ?? joined ?? storedOnly(menu, sources);
      return view === undefined ? [] : [[menu.path, view]];
    }),
  );
}

/** The default view: the stored rows. */
function storedOnly(menu: Menu, { store, live }: ViewSources): View | undefined {
  if (menu.kind === 'settings') return settingsView(menu, store, live);
  return menu.source === 'stored' ? storedView(menu, store) : undefined;
}
