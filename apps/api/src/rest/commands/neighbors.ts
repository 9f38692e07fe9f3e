import type { ApiError } from '../../errors.js';
import { learnedEntry, learnedId } from '../../view/arp.js';
import type { Services } from '../services.js';

/** Forgets those of the learned ARP entries that are still there, and says how many were. */
export async function removeLearned(
  { live }: Services,
  items: readonly string[],
  missing: (item: string) => ApiError,
): Promise<number> {
  const learned = (await live.neighbors(0)) ?? [];
  const here = new Set(learned.filter(({ row }) => row === 0).map(learnedId));
  const entries = items.flatMap((item) => {
    const entry = learnedEntry(item);
    if (entry === undefined) throw missing(item);
    return here.has(learnedId(entry)) ? entry : [];
  });
  for (const entry of entries) await live.agent.request({ op: 'remove-neighbor', ...entry });
  return entries.length;
}
