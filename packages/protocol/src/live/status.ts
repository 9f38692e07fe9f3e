import { Type } from 'typebox';
import type { Data } from '../data.js';

/** Topic `status`: the state of the router in the header of the page. */

const status = Type.Object({
  id: Type.Integer(),
  op: Type.Literal('status'),
  agent: Type.Object({
    connected: Type.Boolean(),
    state: Type.Enum(['down', 'behind', 'synced', 'ahead', 'refused'], {
      description: 'How the data plane stands to the newest revision.',
    }),
  }),
  revision: Type.Integer(),
  alarms: Type.Array(Type.String(), { description: 'What somebody must look at, a sentence each.' }),
  identity: Type.String(),
  cpuLoad: Type.Number({ description: 'Percent.' }),
  uptime: Type.String({ description: 'Duration as RouterOS writes it.' }),
  freeMemory: Type.Number({ description: 'Bytes.' }),
  totalMemory: Type.Number({ description: 'Bytes.' }),
  version: Type.String(),
  user: Type.Optional(
    Type.Object(
      { name: Type.String(), group: Type.String() },
      { description: 'Who is logged in, whom others may have changed since the login; absent for one who is gone.' },
    ),
  ),
});
export type StatusMessage = Data<typeof status>;
export type Status = Omit<StatusMessage, 'id' | 'op' | 'user'>;
