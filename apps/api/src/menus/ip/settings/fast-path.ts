import { rowIdText } from '../../../snapshot/snapshot.js';
import type { LiveState } from '../../../state/live-state.js';
import { ArrayRows, type RestRow, UNAVAILABLE_ROWS, type View, yesNo } from '../../../view/rows.js';
import type { MenuModule } from '../../module.js';

/** `/ip/settings/fast-path`: the fast paths, which bypass the slow path. */
function fastPathView(live: LiveState): View {
  return async (maxAgeMs) => {
    const stats = await live.stats(maxAgeMs);
    if (stats === undefined) return UNAVAILABLE_ROWS;
    return new ArrayRows(
      stats['fast-path'].handlers.map(
        ({ name, active, 'blocked-by': blocked, packets, bytes }, index): RestRow => ({
          '.id': rowIdText(index + 1),
          name,
          active: yesNo(active),
          ...(blocked && { 'blocked-by': blocked }),
          packets: String(packets),
          bytes: String(bytes),
        }),
      ),
    );
  };
}

export const ipFastPath: MenuModule = {
  path: '/ip/settings/fast-path',
  view: (_, { live }) => fastPathView(live),
};
