import { Type } from 'typebox';
import type { Data } from '../data.js';

/** Topic `menu`: first the rows of the query, then changes. */

/** An item: property → text. `.id` identifies it; settings menus have one row, with the `.id` `*0`. */
const row = Type.Record(Type.String(), Type.String());

const counts = {
  total: Type.Integer({ description: 'Items of the menu.' }),
  matched: Type.Integer({ description: 'Items that pass filter and find; in a tree all that are shown.' }),
  context: Type.Optional(
    Type.Integer({
      description: 'Of a tree: how many of those do not pass themselves, but have items below them that do.',
    }),
  ),
  incomplete: Type.Optional(
    Type.Boolean({ description: 'Items of the data plane are missing, because it does not answer.' }),
  ),
};

const snapshot = Type.Object({
  id: Type.Integer(),
  op: Type.Literal('snapshot'),
  ...counts,
  first: Type.Integer({ description: 'Place of the first row among those that pass.' }),
  rows: Type.Array(row),
});
export type Snapshot = Data<typeof snapshot>;

const changes = {
  order: Type.Optional(Type.Array(Type.String(), { description: '`.id`s of all rows, when their order has changed.' })),
  set: Type.Array(row, { description: 'New rows, and of others the properties that changed.' }),
  unset: Type.Optional(
    Type.Record(Type.String(), Type.Array(Type.String()), {
      description: 'Properties that rows no longer have, by `.id`.',
    }),
  ),
  remove: Type.Array(Type.String(), { description: '`.id`s of rows that are no longer among those of the query.' }),
};

const delta = Type.Object({ id: Type.Integer(), op: Type.Literal('delta'), ...counts, ...changes });
export type Delta = Data<typeof delta>;
/** The differences between two results of a query. */
export type Changes = Omit<Delta, 'id' | 'op' | keyof typeof counts>;
