import { Type } from 'typebox';
import type { Data } from './data.js';
import type { Endpoint } from './endpoint.js';

const properties = {
  revision: Type.Integer(),
  author: Type.String(),
  via: Type.String({ description: '`web` or `rest`; empty for the router itself.' }),
  time: Type.String({ format: 'date-time', description: 'UTC.' }),
  summary: Type.String(),
  rows: Type.Integer({ description: 'How many rows it changed.' }),
};

const revision = Type.Object({
  ...properties,
  undoes: Type.Optional(Type.Integer({ description: 'The revision that it undoes.' })),
  'undone-by': Type.Optional(Type.Integer({ description: 'The newest one that undoes it.' })),
  undo: Type.Optional(
    Type.String({
      description: 'Empty when it can be undone, or why not; absent when it was not checked.',
    }),
  ),
});
export type Revision = Data<typeof revision>;

export const revisions = {
  method: 'GET',
  path: '/api/v1/revisions',
  summary: 'The history of the configuration, newest first',
  description: 'The last 1,000 revisions, fewer when their rows take more than 64 MiB.',
  query: Type.Object({}, { additionalProperties: false }),
  answer: Type.Array(revision),
} as const satisfies Endpoint;
export type Revisions = Data<typeof revisions.answer>;

const change = Type.Object({
  menu: Type.String(),
  '.id': Type.String(),
  name: Type.String(),
  action: Type.Enum(['add', 'change', 'move', 'remove']),
  text: Type.String({ description: 'What happened to the row.' }),
});
export type RevisionChange = Data<typeof change>;

const params = Type.Object({
  revision: Type.String({ pattern: '^[0-9]{1,15}$', refusal: 'revision: give the number of a revision' }),
});

export const revisionDetail = {
  method: 'GET',
  path: '/api/v1/revisions/:revision',
  summary: 'What a revision did to each row, in words',
  params,
  query: Type.Object({}, { additionalProperties: false }),
  answer: Type.Object({ ...properties, changes: Type.Array(change, { description: 'Of the first 200 rows.' }) }),
} as const satisfies Endpoint;
export type RevisionDetail = Data<typeof revisionDetail.answer>;

export const revisionUndo = {
  method: 'POST',
  path: '/api/v1/revisions/:revision/undo',
  summary: 'Undo a revision, in one revision',
  description: 'Refused as a whole when one of its rows has changed since; the answer names each such row.',
  params,
  body: Type.Object({}, { additionalProperties: false }),
  answer: Type.Object({
    undone: Type.Integer(),
    revision: Type.Integer({ description: 'The revision that it made.' }),
  }),
} as const satisfies Endpoint;
export type RevisionUndone = Data<typeof revisionUndo.answer>;
