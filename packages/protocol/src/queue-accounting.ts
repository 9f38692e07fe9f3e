import { Type } from 'typebox';
import type { Data } from './data.js';
import type { Endpoint } from './endpoint.js';

const day = (name: string, description: string) =>
  Type.Optional(Type.String({ format: 'date', description, refusal: `${name} must be a day, e.g. 2026-11-30` }));

const bytes = (description: string) => Type.String({ pattern: '^[0-9]+$', description });

/** Bytes of a queue on a day. */
const queueDay = Type.Object({
  '.id': Type.String(),
  menu: Type.String(),
  name: Type.String(),
  day: Type.String({ format: 'date' }),
  upload: bytes('Bytes; 0 of a node of a queue tree.'),
  download: bytes('Bytes; of a node of a queue tree all of them.'),
  total: bytes('Both together.'),
});
export type AccountedQueueDay = Data<typeof queueDay>;

export const queueAccounting = {
  method: 'GET',
  path: '/api/v1/queue-accounting',
  summary: 'Bytes per queue and day',
  description: 'Of today without `from` and `to`; with `queue` those of one queue; with `format=csv` as a table.',
  query: Type.Object(
    {
      from: day('from', 'First day; `to` without it.'),
      to: day('to', 'Last day; today without it.'),
      queue: Type.Optional(
        Type.String({
          pattern: '^\\*[0-9A-Fa-f]{1,8}$',
          description: '`.id` of a queue.',
          refusal: 'queue must be the .id of a queue, e.g. *1A',
        }),
      ),
      format: Type.Optional(Type.Enum(['json', 'csv'], { refusal: 'format must be json or csv' })),
    },
    { additionalProperties: false },
  ),
  answer: Type.Array(queueDay),
  alsoAs: ['text/csv'],
} as const satisfies Endpoint;
export type QueueAccounting = Data<typeof queueAccounting.answer>;
