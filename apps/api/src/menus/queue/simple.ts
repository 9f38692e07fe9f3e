import { QUEUE_STATISTICS } from '@tollway/schema';
import { PART } from '../../agent/queues.js';
import { compileQueues } from '../../compiler/queues.js';
import { checkQueueParent } from '../../config/checks/queues.js';
import { counterCommands } from '../../rest/commands/counters.js';
import { nameOf } from '../../snapshot/rows-by-key.js';
import { countedQueues, type QueueValues } from '../../view/queues.js';
import type { MenuModule } from '../module.js';

const TOTAL = 'total-';

/** `upload/download`, and `total-…` for both together. */
const queueValues: QueueValues = (dump) => ({
  properties: [...QUEUE_STATISTICS, ...QUEUE_STATISTICS.map((name) => `${TOTAL}${name}`)],
  value(id, property) {
    if (property.startsWith(TOTAL)) return dump.total(id, property.slice(TOTAL.length))?.toString();
    const upload = dump.value(id, PART.upload, property);
    return upload === undefined ? undefined : `${upload}/${dump.value(id, PART.download, property)}`;
  },
  sortNumbers(column) {
    if (column.startsWith(TOTAL)) {
      const name = column.slice(TOTAL.length);
      return QUEUE_STATISTICS.includes(name) ? (id) => Number(dump.total(id, name)) : undefined;
    }
    const [name = '', half] = column.split('.');
    const part = half === 'upload' ? PART.upload : half === 'download' ? PART.download : undefined;
    if (part === undefined || !QUEUE_STATISTICS.includes(name)) return undefined;
    return (id) => Number(dump.value(id, part, name));
  },
});

export const simpleQueue: MenuModule = {
  path: '/queue/simple',
  compile: (context) => ({ 'simple-queues': context.once(compileQueues).simple }),
  check: checkQueueParent,
  keys: [nameOf],
  liveRows: ({ live, queueFindings }) => countedQueues(live, queueFindings, queueValues),
  commands: counterCommands('reset-queue-counters'),
};
