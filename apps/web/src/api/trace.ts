/** Packet traces: what the stages of the router do with packets. They run while there are listeners. */
import type { ServerMessage } from '@tollway/protocol/live/server-messages';
import type { TraceMessage } from '@tollway/protocol/live/trace';
import type { PacketArguments } from '@tollway/schema';
import { live } from './live.ts';
import { RequestError } from './rest.ts';
import type { LiveSocket } from './socket.ts';

export interface TraceNews extends Pick<TraceMessage, 'packets' | 'done' | 'lost'> {
  /**
   * Number of times that the connection was lost since the start: each time the router restarted the trace and its
   * numbering.
   */
  readonly breaks: number;
}

interface TraceListener {
  readonly onNews: (news: TraceNews) => void;
  readonly onError: (error: RequestError) => void;
}

function subscribe(
  socket: Pick<LiveSocket, 'subscribe'>,
  dry: boolean,
  args: PacketArguments,
  { onNews, onError }: TraceListener,
): () => void {
  let breaks = 0;
  let lost = { before: 0, now: 0 };
  const receive = (message: ServerMessage) => {
    if (message.op === 'trace') {
      const { packets, done } = message;
      lost = { ...lost, now: lost.before + message.lost };
      onNews({ packets, done, lost: lost.now, breaks });
      // A finished trace must not be started again by a new connection.
      if (done) handle.close();
    } else if (message.op === 'error') {
      handle.close();
      onError(new RequestError(400, message.detail, message.property));
    }
  };
  const anew = () => {
    breaks += 1;
    lost = { before: lost.now, now: lost.now };
  };
  const handle = socket.subscribe({ topic: 'trace', dry, arguments: args }, receive, anew);
  return () => handle.close();
}

/**
 * Follows packets as they are recorded; returns the function that stops it. `args`: arguments of `/tool/packet-trace`.
 */
export const followTrace = (
  args: PacketArguments,
  listener: TraceListener,
  socket: Pick<LiveSocket, 'subscribe'> = live,
): (() => void) => subscribe(socket, false, args, listener);

/** Dry run of a packet. @throws RequestError naming the property that is wrong. */
export function dryRun(args: PacketArguments, socket: Pick<LiveSocket, 'subscribe'> = live): Promise<TraceNews> {
  return new Promise((resolve, reject) => {
    const close = subscribe(socket, true, args, {
      onNews: (news) => {
        close();
        resolve(news);
      },
      onError: reject,
    });
  });
}
