/** State of the connection to the router, and age of the shown values. */
import { useSyncExternalStore } from 'react';
import { live } from './live.ts';
import { type Liveness, liveness, useStatus } from './status.ts';

export interface Connection {
  readonly liveness: Liveness;
  /** Whole seconds since the last message; 0 while the connection is live. */
  readonly ageS: number;
}

/** Interval of checks, ms. */
const CHECK_MS = 500;

function measure(): Connection {
  const everOpen = live.lastMessageAt > 0;
  // The page itself has closed the connection, after the session has ended.
  if (everOpen && live.state === 'closed') return { liveness: 'logged-out', ageS: 0 };
  const ageS = everOpen ? Math.floor((performance.now() - live.lastMessageAt) / 1000) : 0;
  const now = liveness(live.state === 'open', everOpen, ageS, useStatus.getState().engine);
  return { liveness: now, ageS: now === 'live' ? 0 : ageS };
}

let current = measure();
const listeners = new Set<() => void>();
let stop: (() => void) | undefined;

function check(): void {
  const next = measure();
  if (next.liveness === current.liveness && next.ageS === current.ageS) return;
  current = next;
  for (const listener of listeners) listener();
}

/** One timer for all subscribers. */
function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  if (stop === undefined) {
    const timer = setInterval(check, CHECK_MS);
    const unlisten = live.onState(check);
    stop = () => {
      clearInterval(timer);
      unlisten();
    };
    check();
  }
  return () => {
    listeners.delete(changed);
    if (listeners.size > 0) return;
    stop?.();
    stop = undefined;
  };
}

export function useConnection(): Connection {
  return useSyncExternalStore(subscribe, () => current);
}

/** Whether the shown values are out of date. */
export const isStale = ({ liveness: now }: Connection): boolean => now === 'late' || now === 'lost';

/** True while the shown values are out of date, as the router does not answer. */
export function useStale(): boolean {
  return useSyncExternalStore(subscribe, () => isStale(current));
}

/** True when the session has ended: shown values stay out of date until the next login. */
export function useLoggedOut(): boolean {
  return useSyncExternalStore(subscribe, () => current.liveness === 'logged-out');
}

/** True while the router answers but its packet engine does not: counters and measurements are out of date. */
export function useEngineDown(): boolean {
  return useSyncExternalStore(subscribe, () => current.liveness === 'engine-down');
}
