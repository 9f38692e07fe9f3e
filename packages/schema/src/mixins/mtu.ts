import { int } from '../props/int.js';

/** MTU of an Ethernet port, wherever it is set. 9,216 bytes is what network cards commonly take at most. */
export const mtu = {
  kind: int({ min: 68, max: 9_216, unit: 'bytes' }),
  label: 'MTU',
  help: 'Largest IP packet that is sent, in bytes.',
  tab: 'General',
  default: '1500',
} as const;
