import { vi } from 'vitest';

/** Waits until a check holds. The deadline only catches what hangs: the machine may be busy with other tests. */
export const eventually = <T>(check: () => T | Promise<T>): Promise<T> => vi.waitFor(check, { timeout: 90_000 });
