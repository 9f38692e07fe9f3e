/** Shares of the time of each core, for the bars of the dashboard. Pure. */
import type { Usage } from '../../api/profile.ts';

/** Parts of a bar in the order in which they are drawn and listed. */
export const PARTS = [
  { key: 'ethernet', label: 'Ethernet' },
  { key: 'networking', label: 'Networking' },
  { key: 'firewall', label: 'Firewall' },
  { key: 'queuing', label: 'Queuing' },
  { key: 'management', label: 'Management' },
  { key: 'other', label: 'Other work' },
] as const;

type Part = (typeof PARTS)[number]['key'];

export interface CoreShare {
  readonly core: number;
  /** Percentage of the core's time that was busy. */
  readonly load: number;
  /** Percentage by part. */
  readonly parts: Readonly<Record<Part, number>>;
}

const isPart = (name: string): name is Part => PARTS.some((part) => part.key === name);

/**
 * Splits the load of each core by the classes of the profiler. Work of a core outside of the packet engine, and work
 * that the profiler cannot classify, is other work.
 *
 * @param loads load of each core as measured by the kernel, percent
 */
export function coreShares(loads: ReadonlyMap<number, number>, usages: readonly Usage[]): readonly CoreShare[] {
  return [...loads]
    .sort(([a], [b]) => a - b)
    .map(([core, load]) => {
      const parts: Record<Part, number> = {
        ethernet: 0,
        networking: 0,
        firewall: 0,
        queuing: 0,
        management: 0,
        other: 0,
      };
      let busy = 0;
      for (const { name, cpu, usage } of usages) {
        if (cpu !== String(core) || name === 'idle') continue;
        parts[isPart(name) ? name : 'other'] += usage;
        busy += usage;
      }
      // The two measurements cover slightly different seconds; the bar is at least as long as its parts.
      const total = Math.min(100, Math.max(load, busy));
      parts.other += Math.max(0, total - busy);
      return { core, load: total, parts };
    });
}

/** Percentage of all cores together, by part. */
export function meanParts(shares: readonly CoreShare[]): Readonly<Record<Part, number>> {
  const mean = (part: Part) => shares.reduce((sum, share) => sum + share.parts[part], 0) / Math.max(1, shares.length);
  return {
    ethernet: mean('ethernet'),
    networking: mean('networking'),
    firewall: mean('firewall'),
    queuing: mean('queuing'),
    management: mean('management'),
    other: mean('other'),
  };
}
