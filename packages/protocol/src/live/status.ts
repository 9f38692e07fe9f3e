import { Type } from 'typebox';
import type { Data } from '../data.js';

/** Topic `status`: the state of the router in the header of the page. */

const status = Type.Object({
  id: Type.Integer(),
  op: Type.Literal('status'),
  agent: Type.Object({
    connected: Type.Boolean(),
    state: Type.Enum(['down', 'behind', 'synced', 'ahead', 'refused'], {
      description: 'Whether the data plane runs the newest revision.',
    }),
  }),
  revision: Type.Integer(),
  alarms: Type.Array(Type.String(), { description: 'Problems that need attention, a sentence each.' }),
  identity: Type.String(),
  cpuLoad: Type.Number({ description: 'Percent.' }),
  uptime: Type.String({ description: 'Duration as RouterOS writes it.' }),
  freeMemory: Type.Number({ description: 'Bytes.' }),
  totalMemory: Type.Number({ description: 'Bytes.' }),
  version: Type.String(),
  user: Type.Optional(
    Type.Object(
      { name: Type.String(), group: Type.String() },
      { description: 'The user of the session, with changes since the login; absent when the user was removed.' },
    ),
  ),
});
export type StatusMessage = Data<typeof status>;
export type Status = Omit<StatusMessage, 'id' | 'op' | 'user'>;
