import type { StaticNeighbor } from '@tollway/dataplane-agent';
import { AgentGone } from '../../agent/messages.js';
import { type CompileContext, requiredValue } from '../../compiler/context.js';
import { checkArp } from '../../config/checks/addresses.js';
import type { ApiError } from '../../errors.js';
import { TimeSlicer } from '../../scheduling/time-slicer.js';
import type { DynamicItems, Services } from '../../services.js';
import { arpView, learnedEntry, learnedId } from '../../view/arp.js';
import type { MenuModule } from '../module.js';

const MENU = '/ip/arp';

/** Static ARP entries. */
function compileNeighbors(context: CompileContext): StaticNeighbor[] {
  return context.translate(MENU, (row) => ({
    row: row.id,
    interface: context.interfaces.row('interface', requiredValue(MENU, row, 'interface')),
    address: requiredValue(MENU, row, 'address'),
    'mac-address': requiredValue(MENU, row, 'mac-address').toLowerCase(),
    published: requiredValue(MENU, row, 'published') === 'true',
  }));
}

/** Learned ARP entries that are still there. @throws ApiError (`notFound`) for an id that is not one of these. */
async function findLearned(
  { live }: Services,
  items: readonly string[],
  notFound: (item: string) => ApiError,
): Promise<DynamicItems> {
  const learned = await live.neighbors(0);
  if (learned === undefined) throw new AgentGone();
  const here = new Set(learned.filter(({ row }) => row === 0).map(learnedId));
  const found = await new TimeSlicer().map(items, (item) => {
    const entry = learnedEntry(item);
    if (entry === undefined) throw notFound(item);
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

export const ipArp: MenuModule = {
  path: '/ip/arp',
  compile: (context) => ({ neighbors: compileNeighbors(context) }),
  check: checkArp,
  view: (menu, { store, live }) => arpView(menu, store, live),
  dynamic: { find: findLearned },
};
