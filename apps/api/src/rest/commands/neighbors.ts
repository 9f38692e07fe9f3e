import { AgentGone } from '../../agent/messages.js';
import type { ApiError } from '../../errors.js';
import { TimeSlicer } from '../../scheduling/time-slicer.js';
import type { DynamicItems, Services } from '../../services.js';
import { learnedEntry, learnedId } from '../../view/arp.js';

/** Those of the learned ARP entries that are still there. @throws ApiError (`missing`) for an id that is none of one. */
export async function findLearned(
  { live }: Services,
  items: readonly string[],
  missing: (item: string) => ApiError,
): Promise<DynamicItems> {
  const learned = await live.neighbors(0);
  if (learned === undefined) throw new AgentGone();
  const here = new Set(learned.filter(({ row }) => row === 0).map(learnedId));
  const found = await new TimeSlicer().map(items, (item) => {
    const entry = learnedEntry(item);
    if (entry === undefined) throw missing(item);
    return here.has(learnedId(entry)) ? entry : undefined;
  });
  const entries = found.filter((entry) => entry !== undefined);
  return {
    count: entries.length,
    remove: async () => {
      for (const entry of entries) await live.agent.request({ op: 'remove-neighbor', ...entry });
    },
  };
}
