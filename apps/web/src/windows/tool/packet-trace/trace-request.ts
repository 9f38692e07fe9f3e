/** Asking for a trace from another window: "Trace this" on a connection or a log line. */
import type { PacketWords } from '@tollway/schema';

export const TRACE = '/tool/packet-trace';

let requested: PacketWords | undefined;
const listeners = new Set<() => void>();

/** Leaves a packet for the trace window; the caller opens it. */
export function requestTrace(words: PacketWords): void {
  requested = words;
  for (const listener of listeners) listener();
}

/** The packet that was asked for, once. */
export function takeRequested(): PacketWords | undefined {
  const words = requested;
  requested = undefined;
  return words;
}

export function onRequested(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
