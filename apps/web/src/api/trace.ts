/** Packet traces: what the stages of the router do with packets. They run only while somebody listens. */
import type { PacketWords, ShownPacket } from '@tollway/schema';
import { live } from './live.ts';
import { isObject, RequestError } from './rest.ts';
import type { LiveSocket, Message } from './socket.ts';

export interface TraceNews {
  readonly packets: readonly ShownPacket[];
  readonly done: boolean;
  /** Packets that came too fast to be noted, since the start. */
  readonly lost: number;
  /** How often the connection has broken off since the start: the router began anew to number packets and to note them. */
  readonly breaks: number;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const number = (value: unknown): number => (typeof value === 'number' ? value : 0);
const objects = (value: unknown): readonly Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

function packetOf(raw: Record<string, unknown>): ShownPacket {
  return {
    number: number(raw.number),
    timeMs: number(raw.timeMs),
    in: text(raw.in),
    out: text(raw.out),
    protocol: text(raw.protocol),
    src: text(raw.src),
    dst: text(raw.dst),
    length: number(raw.length),
    ...(typeof raw.segments === 'number' && { segments: raw.segments }),
    fast: raw.fast === true,
    slowReason: text(raw.slowReason),
    outcome: text(raw.outcome),
    dropReason: text(raw.dropReason),
    steps: objects(raw.steps).map((step) => ({
      stage: text(step.stage),
      decision: text(step.decision),
      rows: objects(step.rows).map(({ id, menu, label, effect }) => ({
        id: text(id),
        ...(typeof menu === 'string' && { menu }),
        label: text(label),
        ...(typeof effect === 'string' && { effect }),
      })),
    })),
  };
}

/** Decodes a message of the `trace` topic; undefined for any other. */
export function traceNews(message: Message): TraceNews | undefined {
  if (message.op !== 'trace') return undefined;
  return {
    packets: objects(message.packets).map(packetOf),
    done: message.done === true,
    lost: number(message.lost),
    breaks: 0,
  };
}

export interface TraceListener {
  readonly onNews: (news: TraceNews) => void;
  readonly onError: (error: RequestError) => void;
}

function subscribe(
  socket: Pick<LiveSocket, 'subscribe'>,
  dry: boolean,
  words: PacketWords,
  { onNews, onError }: TraceListener,
): () => void {
  let breaks = 0;
  let lost = { before: 0, now: 0 };
  const receive = (message: Message) => {
    const news = traceNews(message);
    if (news !== undefined) {
      lost = { ...lost, now: lost.before + news.lost };
      onNews({ ...news, lost: lost.now, breaks });
    } else if (message.op === 'error') {
      handle.close();
      onError(new RequestError(400, text(message.detail), text(message.property) || undefined));
    }
    // After the end a new connection must not begin it anew.
    if (news?.done === true) handle.close();
  };
  const anew = () => {
    breaks += 1;
    lost = { before: lost.now, now: lost.now };
  };
  const handle = socket.subscribe({ topic: 'trace', dry, words }, receive, anew);
  return () => handle.close();
}

/** Follows packets as they come; returns the function that stops it. `words` are arguments of `/tool/packet-trace`. */
export const followTrace = (
  words: PacketWords,
  listener: TraceListener,
  socket: Pick<LiveSocket, 'subscribe'> = live,
): (() => void) => subscribe(socket, false, words, listener);

/** What would become of a packet. @throws RequestError naming the property that is wrong. */
export function dryRun(words: PacketWords, socket: Pick<LiveSocket, 'subscribe'> = live): Promise<TraceNews> {
  return new Promise((resolve, reject) => {
    const close = subscribe(socket, true, words, {
      onNews: (news) => {
        close();
        resolve(news);
      },
      onError: reject,
    });
  });
}
