import { Type } from 'typebox';
import type { Data } from './data.js';
import type { Endpoint } from './endpoint.js';

const flag = (name: string, standard: boolean, description: string) =>
  Type.Optional(Type.Boolean({ default: standard, description, refusal: `value of ${name}: give true or false` }));

const action = Type.Enum(['add', 'change', 'remove', 'same', 'error']);
export type ImportAction = Data<typeof action>;

/** The outcome for a line of the list, or for a queue that is not in the list. */
const line = Type.Object({
  line: Type.Integer({ description: 'From 1; 0 for a queue that is in no line.' }),
  action,
  name: Type.String(),
  text: Type.String({ description: 'What changes, or what is wrong.' }),
  hint: Type.String({
    description: 'What of its settings does not do what it seems to; empty without a hint, and but for a dry run.',
  }),
});
export type ImportLine = Data<typeof line>;

const report = Type.Object({
  lines: Type.Array(line),
  revision: Type.Optional(
    Type.Integer({ description: 'The revision that it made; absent when there was nothing to do, and of a dry run.' }),
  ),
  digest: Type.Optional(Type.String({ description: 'Of a dry run: stands for what it told.' })),
});
export type ImportReport = Data<typeof report>;

export const queueImport = {
  method: 'POST',
  path: '/api/v1/queues/import',
  summary: 'Make simple queues of a comma separated list, in one revision',
  description:
    'A list with an error changes nothing, nor does one with a `digest` that would do something else by now.',
  body: Type.Object(
    {
      csv: Type.String({
        description: 'A line for each queue.',
        refusal: 'missing value of csv: a text with a line for each queue',
      }),
      'dry-run': flag('dry-run', false, 'Only tells what would become of each line.'),
      digest: Type.Optional(
        Type.String({
          description: 'That of a dry run, when nothing else is to be done than it told.',
          refusal: 'value of digest: give that of the dry run',
        }),
      ),
      add: flag('add', true, 'Lines that name no queue make one.'),
      update: flag('update', true, 'Lines that name a queue change it.'),
      remove: flag('remove', false, 'Queues that no line names go.'),
    },
    { additionalProperties: false },
  ),
  answer: report,
} as const satisfies Endpoint;

export const queueImportUndo = {
  method: 'POST',
  path: '/api/v1/queues/import/undo',
  summary: 'Take back what a revision did to simple queues, in one revision',
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
