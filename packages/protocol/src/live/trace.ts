import { Type } from 'typebox';
import type { Data } from '../data.js';

/** Topic `trace`: packets with the names of the configuration. */

const row = Type.Object({
  id: Type.String({ description: '`.id`' }),
  menu: Type.Optional(
    Type.String({ description: 'Path of its menu; absent when the row is gone, or was made by the data plane.' }),
  ),
  label: Type.String({ description: 'Its name; of a rule its place in the menu, what it does, and its comment.' }),
  effect: Type.Optional(Type.String({ description: 'Effect of a rule that did not decide: `logged by`.' })),
});
/** A row of the configuration on which the decision of a stage rests. */
export type TracedRow = Data<typeof row>;

const step = Type.Object({ stage: Type.String(), decision: Type.String(), rows: Type.Array(row) });
/** The decision of a stage about a packet. */
export type TracedStep = Data<typeof step>;

const packet = Type.Object({
  number: Type.Number({ description: 'Counts up within a trace.' }),
  timeMs: Type.Number({ description: 'Milliseconds since 1970.' }),
  in: Type.String({ description: 'Name of an interface; empty for packets of the router itself.' }),
  out: Type.String({ description: 'Name of an interface; empty when it left by none.' }),
  protocol: Type.String(),
  src: Type.String({ description: 'Address, with the port where there is one.' }),
  dst: Type.String(),
  length: Type.Number({ description: 'Bytes of the IP packet on the wire.' }),
  segments: Type.Optional(
    Type.Number({
      description: 'Packets on the wire, when the device segments it (TSO, GSO); absent for one.',
    }),
  ),
  fast: Type.Boolean(),
  slowReason: Type.Optional(Type.String()),
  outcome: Type.String(),
  dropReason: Type.Optional(Type.String()),
  steps: Type.Array(step),
});
/** A traced packet. */
export type PacketTrace = Data<typeof packet>;

const trace = Type.Object({
  id: Type.Integer(),
  op: Type.Literal('trace'),
  packets: Type.Array(packet),
  done: Type.Boolean({ description: 'The trace has all packets that were asked for.' }),
  lost: Type.Number({ description: 'Packets since the start that came too fast to be recorded.' }),
});
export type TraceMessage = Data<typeof trace>;
