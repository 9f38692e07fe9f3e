/** Asking for a trace from another window: "Trace this" on a connection or a log line. */
import type { PacketWords } from '@tollway/schema';

export const TRACE = '/tool/packet-trace';

let asked: PacketWords | undefined;
const listeners = new Set<() => void>();

/** Leaves a packet for the trace window; the caller opens it. */
export function askTrace(words: PacketWords): void {
  asked = words;
  for (const listener of listeners) listener();
}

/** The packet that was asked for, once. */
export function takeAsked(): PacketWords | undefined {
  const words = asked;
  asked = undefined;
  return words;
}

export function onAsked(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
