/** Pending changes: an undo of the last change must wait for them. */

const running = new Set<Promise<unknown>>();

/** Counts a promise as pending until it has settled. Returns it. */
export function trackPending<T>(work: Promise<T>): Promise<T> {
  const ended = work.then(
    () => undefined,
    () => undefined,
  );
  running.add(ended);
  void ended.then(() => running.delete(ended));
  return work;
}

/** Waits until the present changes have settled and their callers have reported them. */
export async function pendingSettled(): Promise<void> {
  if (running.size === 0) return;
  await Promise.all(running);
  await new Promise((resolve) => setTimeout(resolve));
}
