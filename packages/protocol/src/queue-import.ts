import { Type } from 'typebox';
import type { Data } from './data.js';
import type { Endpoint } from './endpoint.js';

const flag = (name: string, standard: boolean, description: string) =>
  Type.Optional(Type.Boolean({ default: standard, description, refusal: `value of ${name}: give true or false` }));

const action = Type.Enum(['add', 'change', 'remove', 'same', 'error']);
export type ImportAction = Data<typeof action>;

/** The outcome for a line of the list, or for a queue that is not in the list. */
const line = Type.Object({
  line: Type.Integer({ description: 'Number of the line, from 1; 0 for a queue that no line names.' }),
  action,
  name: Type.String(),
  text: Type.String({ description: 'What changes, or what is wrong.' }),
  hint: Type.String({
    description:
      'Settings of the queue that have no effect, or another one than expected; empty without such, and always without dry-run.',
  }),
});
export type ImportLine = Data<typeof line>;

const report = Type.Object({
  lines: Type.Array(line),
  revision: Type.Optional(
    Type.Integer({ description: 'Revision of the change; absent when nothing changed, and for a dry run.' }),
  ),
  digest: Type.Optional(Type.String({ description: 'Of a dry run: digest of its lines.' })),
});
export type ImportReport = Data<typeof report>;

export const queueImport = {
  method: 'POST',
  path: '/api/v1/queues/import',
  summary: 'Add and change simple queues by a list in CSV, in one revision',
  description: 'A list with an error is refused as a whole, and so is one whose `digest` no longer fits.',
  body: Type.Object(
    {
      csv: Type.String({
        description: 'A line for each queue.',
        refusal: 'missing value of csv: a text with a line for each queue',
      }),
      'dry-run': flag('dry-run', false, 'Changes nothing, and answers what each line would do.'),
      digest: Type.Optional(
        Type.String({
          description:
            'Digest of a dry run: the list is refused when its lines would differ from those of the dry run.',
          refusal: 'value of digest: give that of the dry run',
        }),
      ),
      add: flag('add', true, 'Lines that name no existing queue add one.'),
      update: flag('update', true, 'Lines that name an existing queue change it.'),
      remove: flag('remove', false, 'Queues that no line names are removed.'),
    },
    { additionalProperties: false },
  ),
  answer: report,
} as const satisfies Endpoint;

export const queueImportUndo = {
  method: 'POST',
  path: '/api/v1/queues/import/undo',
  summary: 'Undo what a revision did to simple queues, in one revision',
  description: 'Refused as a whole when one of the queues has changed since.',
  body: Type.Object(
    {
      revision: Type.Integer({
        minimum: Number.MIN_SAFE_INTEGER,
        maximum: Number.MAX_SAFE_INTEGER,
        refusal: 'missing value of revision: the number of a revision that changed simple queues',
      }),
    },
    { additionalProperties: false },
  ),
  answer: report,
} as const satisfies Endpoint;
