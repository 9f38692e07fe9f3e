/** How the connection to the router stands, and how old what is shown is. */
import { useSyncExternalStore } from 'react';
import { live } from './live.ts';
import { type Liveness, liveness, useStatus } from './status.ts';

export interface Connection {
  readonly liveness: Liveness;
  /** Whole seconds since the last message; 0 while all is well. */
  readonly ageS: number;
}

/** How often it is looked at, ms. */
const LOOK_MS = 500;

function measure(): Connection {
  const everOpen = live.lastMessageAt > 0;
  // The router is not to blame for this silence.
  if (everOpen && live.state === 'closed') return { liveness: 'logged-out', ageS: 0 };
  const ageS = everOpen ? Math.floor((performance.now() - live.lastMessageAt) / 1000) : 0;
  const now = liveness(live.state === 'open', everOpen, ageS, useStatus.getState().engine);
  return { liveness: now, ageS: now === 'live' ? 0 : ageS };
}

let current = measure();
const listeners = new Set<() => void>();
let stop: (() => void) | undefined;

function look(): void {
  const next = measure();
  if (next.liveness === current.liveness && next.ageS === current.ageS) return;
  current = next;
  for (const listener of listeners) listener();
}

/** One timer for all who want to know. */
function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  if (stop === undefined) {
    const timer = setInterval(look, LOOK_MS);
    const unlisten = live.onState(look);
    stop = () => {
      clearInterval(timer);
      unlisten();
    };
    look();
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

/** True for a connection whose values are no longer those of this moment. */
export const isStale = ({ liveness: now }: Connection): boolean => now === 'late' || now === 'lost';

/** True while what is shown is old: the router does not answer. */
export function useStale(): boolean {
  return useSyncExternalStore(subscribe, () => isStale(current));
}

/** True when the session is over: what is shown is old, and will be until somebody logs in again. */
export function useLoggedOut(): boolean {
  return useSyncExternalStore(subscribe, () => current.liveness === 'logged-out');
}

/** True while the router answers and its packet engine does not: what is counted and measured there is old. */
export function useEngineDown(): boolean {
  return useSyncExternalStore(subscribe, () => current.liveness === 'engine-down');
}
