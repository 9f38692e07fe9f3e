/** Requests of other windows for a trace: "Trace this" on a connection or a log line. */
import type { PacketArguments } from '@tollway/schema';

export const TRACE = '/tool/packet-trace';

let requested: PacketArguments | undefined;
const listeners = new Set<() => void>();

/** Stores a packet for the trace window, which the caller opens. */
export function requestTrace(args: PacketArguments): void {
  requested = args;
  for (const listener of listeners) listener();
}

/** The requested packet; returned once. */
export function takeRequested(): PacketArguments | undefined {
  const args = requested;
  requested = undefined;
  return args;
}

export function onRequested(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
