import type { ApiError } from '../../errors.js';
import { learnedEntry, learnedId } from '../../view/arp.js';
import type { Services } from '../services.js';

/** Forgets learned ARP entries. */
export async function removeLearned(
  { live }: Services,
  items: readonly string[],
  missing: (item: string) => ApiError,
): Promise<void> {
  const learned = (await live.neighbors(0)) ?? [];
  const here = new Set(learned.filter(({ row }) => row === 0).map(learnedId));
  const entries = items.map((item) => {
    const entry = learnedEntry(item);
    if (entry === undefined || !here.has(learnedId(entry))) throw missing(item);
    return entry;
  });
  for (const entry of entries) await live.agent.request({ op: 'remove-neighbor', ...entry });
}
