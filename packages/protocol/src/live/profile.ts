import { Type } from 'typebox';
import type { Data } from '../data.js';

/** Topic `profile`: CPU time by class of work. */

const row = Type.Object({
  name: Type.String({ description: 'Class of work.' }),
  cpu: Type.String({ description: 'Core number, or `total`.' }),
  usage: Type.String({ description: 'Percent with one decimal.' }),
});
export type ProfileRow = Data<typeof row>;

const profile = Type.Object({
  id: Type.Integer(),
  op: Type.Literal('profile'),
  rows: Type.Array(row),
  handovers: Type.Number({ description: 'Packets per second that workers give to others.' }),
  outOfOrder: Type.Number({ description: 'TCP segments per second that come out of order.' }),
});
export type ProfileMessage = Data<typeof profile>;
export type ProfileUpdate = Omit<ProfileMessage, 'id' | 'op'>;
