/** Asking for a trace from another window: "Trace this" on a connection or a log line. */
import type { PacketArguments } from '@tollway/schema';

export const TRACE = '/tool/packet-trace';

let requested: PacketArguments | undefined;
const listeners = new Set<() => void>();

/** Leaves a packet for the trace window; the caller opens it. */
export function requestTrace(args: PacketArguments): void {
  requested = args;
  for (const listener of listeners) listener();
}

/** The packet that was asked for, once. */
export function takeRequested(): PacketArguments | undefined {
  const args = requested;
  requested = undefined;
  return args;
}

export function onRequested(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
