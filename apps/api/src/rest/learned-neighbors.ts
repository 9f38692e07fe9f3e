import type { AddressFamily } from '@tollway/schema';
import { AgentGone } from '../agent/messages.js';
import type { ApiError } from '../errors.js';
import { TimeSlicer } from '../scheduling/time-slicer.js';
import type { DynamicItems, Services } from '../services.js';
import { learnedId, learnedNeighbor } from '../view/neighbors.js';

const REMOVALS = { ip: 'remove-neighbor', ipv6: 'remove-ipv6-neighbor' } as const;

/** Finds learned neighbours of a family that exist, to remove them. It throws `notFound` for an id of another kind. */
export const findLearned =
  (family: AddressFamily) =>
  async ({ live }: Services, items: readonly string[], notFound: (item: string) => ApiError): Promise<DynamicItems> => {
    const known = await live.neighbors(family, 0);
    if (known === undefined) throw new AgentGone();
    const here = new Set(known.filter(({ row }) => row === 0).map((entry) => learnedId(entry, family)));
    const found = await new TimeSlicer().map(items, (item) => {
      const entry = learnedNeighbor(item, family);
      if (entry === undefined) throw notFound(item);
      return here.has(learnedId(entry, family)) ? entry : undefined;
    });
    const entries = found.filter((entry) => entry !== undefined);
    return {
      count: entries.length,
      remove: async () => {
        for (const entry of entries) await live.agent.request({ op: REMOVALS[family], ...entry });
      },
    };
  };
