import { Type } from 'typebox';
import type { Data } from '../data.js';

/** Topic `traffic`: samples for graphs, one a second. */

const bps = (what: string) => Type.Number({ description: `${what}, bit/s.` });
const pps = (what: string) => Type.Number({ description: `${what}, packets per second.` });

const interfaceSample = Type.Object({
  rx: bps('Received'),
  tx: bps('Sent'),
  rxPps: pps('Received'),
  txPps: pps('Sent'),
  fpRx: bps('Received and forwarded by the fast path'),
  fpTx: bps('Sent by the fast path'),
  fpRxPps: pps('Received and forwarded by the fast path'),
  fpTxPps: pps('Sent by the fast path'),
});
/** Rates of an interface in the last full second. */
export type InterfaceSample = Data<typeof interfaceSample>;

const properties = {
  t: Type.Number({ description: 'Milliseconds since 1970.' }),
  interfaces: Type.Record(Type.String(), interfaceSample, { description: 'By `.id`: an interface may be renamed.' }),
  throughput: Type.Object(
    { bps: bps('Sent'), pps: pps('Sent') },
    { description: 'Sent by all ports together in the last full second.' },
  ),
  queued: Type.Object(
    { bytes: Type.Number({ description: 'L3.' }), packets: Type.Number() },
    { description: 'Content of all simple queues together.' },
  ),
  cpu: Type.Array(Type.Object({ cpu: Type.Number(), load: Type.Number({ description: 'Percent.' }) })),
  connections: Type.Number({ description: 'Connections tracked.' }),
  fasttrackShare: Type.Number({
    description: 'Share of the packets received that took FastTrack since the sample before, 0 to 1.',
  }),
  drops: Type.Record(Type.String(), Type.Number(), {
    description: 'Packets per second by drop reason, without those at 0.',
  }),
};

export const trafficSample = Type.Object(properties);
export type TrafficSample = Data<typeof trafficSample>;

const id = Type.Integer();

/** The samples of the last minutes, oldest first: the first message of a subscription. */
const history = Type.Object({ id, op: Type.Literal('history'), samples: Type.Array(trafficSample) });
export type History = Data<typeof history>;

const sample = Type.Object({ id, op: Type.Literal('sample'), ...properties });
export type SampleMessage = Data<typeof sample>;
