import type { QueueFindings } from '../../lint/queue-findings.js';
import { rowIdText } from '../../snapshot/snapshot.js';
import { ArrayRows, type View } from '../../view/rows.js';
import type { MenuModule } from '../module.js';

/** `/queue/lint`: settings of queues that have no effect, or not the expected one. */
function queueLintView(queueFindings: QueueFindings): View {
  return async () => {
    await queueFindings.refresh();
    return new ArrayRows(
      queueFindings.findings.map(({ menu, row, name, property, finding, message }, index) => ({
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
  view: (_, { queueFindings }) => queueLintView(queueFindings),
};
