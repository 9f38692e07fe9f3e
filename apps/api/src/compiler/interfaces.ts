import type { ArpMode, Interface, IoChoice } from '@tollway/dataplane-agent';
import { durationMs } from '@tollway/schema';
import type { Row } from '../snapshot/snapshot.js';
import { rowsOf } from '../snapshot/snapshot.js';
import { CannotWork } from './cannot-work.js';
import { type CompileContext, effective, needed } from './context.js';

const MENU = '/interface/ethernet';

/** Every port's L3 interface; a disabled one stays known and is down. */
export function compileInterfaces(context: CompileContext): Interface[] {
  return rowsOf(context.snapshot, MENU).flatMap((row) => context.attempt(row, () => [one(row)]) ?? []);
}

function one(row: Row): Interface {
  const timeout = needed(MENU, row, 'arp-timeout');
  return {
    row: row.id,
    name: effective(MENU, row, 'name') ?? needed(MENU, row, 'default-name'),
    port: needed(MENU, row, 'default-name'),
    disabled: row.disabled,
    mtu: Number(needed(MENU, row, 'mtu')),
    'mac-address': effective(MENU, row, 'mac-address')?.toLowerCase() ?? null,
    arp: arpMode(needed(MENU, row, 'arp')),
    'arp-timeout-ms': timeout === 'auto' ? null : (durationMs(timeout) ?? null),
    io: ioChoice(needed(MENU, row, 'io')),
  };
}

const ARP_MODES: readonly ArpMode[] = ['disabled', 'enabled', 'proxy-arp', 'reply-only', 'local-proxy-arp'];

function arpMode(value: string): ArpMode {
  const mode = ARP_MODES.find((known) => known === value);
  if (!mode) throw new CannotWork(`arp: ${value} is no ARP mode`);
  return mode;
}

const IO_CHOICES: readonly IoChoice[] = ['auto', 'af-packet', 'af-xdp'];

function ioChoice(value: string): IoChoice {
  const choice = IO_CHOICES.find((known) => known === value);
  if (!choice) throw new CannotWork(`io: ${value} is no way to exchange frames`);
  return choice;
}
