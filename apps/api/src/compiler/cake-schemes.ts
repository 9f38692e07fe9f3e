import type { CakeAtm } from '@tollway/dataplane-agent';

/** Framing that a link adds to packets. */
interface CakeFraming {
  /** Bytes added to the IP length of every packet. */
  readonly overhead: number;
  /** Minimum length charged for a packet, bytes; 0 for none. */
  readonly mpu: number;
  readonly atm: CakeAtm;
}

/** Presets by name, as tc-cake(8) has them under "overhead compensation parameters"; over the IP length. */
const SCHEMES: Readonly<Record<string, Partial<CakeFraming>>> = {
  raw: {},
  // RouterOS spells the name like this.
  convervative: { overhead: 48, atm: 'atm' },
  'ipoa-vcmux': { overhead: 8, atm: 'atm' },
  'ipoa-llcsnap': { overhead: 16, atm: 'atm' },
  'bridged-vcmux': { overhead: 24, atm: 'atm' },
  'bridged-llcsnap': { overhead: 32, atm: 'atm' },
  'pppoa-vcmux': { overhead: 10, atm: 'atm' },
  'pppoa-llc': { overhead: 14, atm: 'atm' },
  'pppoe-vcmux': { overhead: 32, atm: 'atm' },
  'pppoe-llcsnap': { overhead: 40, atm: 'atm' },
  'pppoe-ptm': { overhead: 30, atm: 'ptm' },
  'bridged-ptm': { overhead: 22, atm: 'ptm' },
  // In Linux it subtracts the Ethernet header from the packet length. Here lengths are IP lengths: nothing to subtract.
  'via-ethernet': {},
  ethernet: { overhead: 38, mpu: 84 },
  'ether-vlan': { overhead: 4 },
  docsis: { overhead: 18, mpu: 64 },
};

/** Bounds of `cake-overhead`. */
const OVERHEAD = { min: -64, max: 256 } as const;

/**
 * Overheads are added up; the largest minimum length applies; framing that the user chose takes precedence over
 * presets.
 */
export function cakeFraming(schemes: readonly string[], own: CakeFraming): CakeFraming {
  const presets = schemes.flatMap((name) => (Object.hasOwn(SCHEMES, name) ? (SCHEMES[name] ?? []) : []));
  const overhead = presets.reduce((sum, preset) => sum + (preset.overhead ?? 0), own.overhead);
  return {
    overhead: Math.min(Math.max(overhead, OVERHEAD.min), OVERHEAD.max),
    mpu: Math.max(own.mpu, ...presets.map(({ mpu = 0 }) => mpu)),
    atm: own.atm === 'none' ? (presets.find(({ atm }) => atm !== undefined)?.atm ?? 'none') : own.atm,
  };
}

/** Round trip times of presets, µs, as tc-cake(8) has them. */
const RTT_US: Readonly<Record<string, number>> = {
  datacentre: 100,
  lan: 1_000,
  metro: 10_000,
  regional: 30_000,
  internet: 100_000,
  oceanic: 300_000,
  satellite: 1_000_000,
  interplanetary: 3_600_000_000,
};

/** Round trip time of a preset, µs; undefined for `none`. */
export const cakeRtt = (scheme: string): number | undefined =>
  Object.hasOwn(RTT_US, scheme) ? RTT_US[scheme] : undefined;
