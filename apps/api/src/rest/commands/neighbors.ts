import { parseRowId } from '../../config/snapshot.js';
import type { ApiError } from '../../errors.js';
import type { Services } from '../services.js';

/** Forgets learned ARP entries. */
export async function removeLearned(
  { live, learnedIds }: Services,
  items: readonly string[],
  missing: (item: string) => ApiError,
): Promise<void> {
  const entries = items.map((item) => {
    const entry = learnedIds.find(parseRowId(item) ?? 0);
    if (entry === undefined) throw missing(item);
    return entry;
  });
  for (const entry of entries) await live.agent.request({ op: 'remove-neighbor', ...entry });
}
