import { setTimeout as sleep } from 'node:timers/promises';

export { sleep };

/**
 * Waits until the body neither throws nor returns undefined or false, and returns what it returned.
 * At the end of the time the last failure is thrown.
 */
export async function eventually<T>(
  body: () => T | Promise<T>,
  timeoutMs = 90_000,
  everyMs = 100,
): Promise<NonNullable<T>> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    let failure: unknown;
    try {
      const value = await body();
      if (value !== undefined && value !== null && value !== false) return value;
      failure = new Error(`not within ${timeoutMs} ms: ${body}`);
    } catch (error) {
      failure = error;
    }
    if (Date.now() >= deadline) throw failure;
    await sleep(everyMs);
  }
}
