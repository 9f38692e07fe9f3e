/** Asking for a trace from another window: "Trace this" on a connection or a log line. */
import type { PacketArguments } from '@tollway/schema';

export const TRACE = '/tool/packet-trace';

let requested: PacketArguments | undefined;
const listeners = new Set<() => void>();

/** Leaves a packet for the trace window; the caller opens it. */
export function requestTrace(words: PacketArguments): void {
  requested = words;
  for (const listener of listeners) listener();
}

/** The packet that was asked for, once. */
export function takeRequested(): PacketArguments | undefined {
  const words = requested;
  requested = undefined;
  return words;
}

export function onRequested(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
