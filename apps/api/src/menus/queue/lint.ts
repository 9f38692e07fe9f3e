import type { QueueHints } from '../../lint/queue-hints.js';
import { rowIdText } from '../../snapshot/snapshot.js';
import { ArrayRows, type View } from '../../view/rows.js';
import type { MenuModule } from '../module.js';

/** `/queue/lint`: settings of queues that do not do what they seem to. */
function queueLintView(hints: QueueHints): View {
  return async () => {
    await hints.refresh();
    return new ArrayRows(
      hints.findings.map(({ menu, row, name, property, finding, message }, index) => ({
        '.id': rowIdText(index + 1),
        menu,
        'queue-id': rowIdText(row),
        queue: name,
        property,
        finding,
        message,
      })),
    );
  };
}

export const queueLint: MenuModule = {
  path: '/queue/lint',
  view: (_, { hints }) => queueLintView(hints),
};
