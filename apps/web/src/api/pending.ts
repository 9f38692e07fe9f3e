/** Changes that are on their way to the router: who takes the last one back must wait for them. */

const running = new Set<Promise<unknown>>();

/** Counts work as under way until it has ended. Returns it. */
export function trackPending<T>(work: Promise<T>): Promise<T> {
  const ended = work.then(
    () => undefined,
    () => undefined,
  );
  running.add(ended);
  void ended.then(() => running.delete(ended));
  return work;
}

/** Waits for what is under way now, and for those who waited for that to have told of it. */
export async function settled(): Promise<void> {
  if (running.size === 0) return;
  await Promise.all(running);
  await new Promise((resolve) => setTimeout(resolve));
}
