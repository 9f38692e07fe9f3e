import type { ArpMode, Interface, InterfaceKind } from '@tollway/dataplane-agent';
import { durationMs } from '@tollway/schema';
import { interfaceName } from '../snapshot/interfaces.js';
import type { Row } from '../snapshot/snapshot.js';
import { type CompileContext, requiredValue } from './context.js';
import { InvalidRow } from './invalid-row.js';
import { zoneOf } from './vrfs.js';

/**
 * An L3 interface of a menu. A disabled one is included and is down.
 * @param mac link-layer address to use instead of that of what is below
 * @throws InvalidRow for a value that the data plane does not know
 */
export function compileInterface(
  context: CompileContext,
  menu: string,
  row: Row,
  kind: InterfaceKind,
  mac?: string,
): Interface {
  const zone = zoneOf(context, row);
  const timeout = requiredValue(menu, row, 'arp-timeout');
  return {
    row: row.id,
    name: interfaceName(row),
    kind,
    disabled: row.disabled,
    mtu: Number(requiredValue(menu, row, 'mtu')),
    'mac-address': mac?.toLowerCase() ?? null,
    arp: arpMode(requiredValue(menu, row, 'arp')),
    'arp-timeout-ms': timeout === 'auto' ? null : (durationMs(timeout) ?? null),
    // The data plane leaves the default out, too.
    ...(zone !== 0 && { zone }),
  };
}

const ARP_MODES: readonly ArpMode[] = ['disabled', 'enabled', 'proxy-arp', 'reply-only', 'local-proxy-arp'];

function arpMode(value: string): ArpMode {
  const mode = ARP_MODES.find((known) => known === value);
  if (!mode) throw new InvalidRow(`arp: ${value} is no ARP mode`);
  return mode;
}
