import type { Database } from './client.js';

/** Rows of the audit for each kind of action; older ones are deleted. */
export const MAX_RECORDED = 10_000;
/** The limit for changes of the configuration. */
const MAX_CHANGES = 100_000;
/** Rows of a kind between two deletions, which take a scan. */
const EVERY = 100;
/** Rows of each kind that this process has written; ids do not count them, as all kinds share them. */
const written = new Map<string, number>();

/** Writes a row of the audit, and from time to time deletes the oldest ones of its kind. */
export async function record(
  db: Database,
  data: {
    /** Name of the user who did it. */
    readonly user: string;
    readonly address: string;
    readonly action: string;
    readonly detail: string;
    readonly revision?: number;
  },
): Promise<void> {
  const { action } = data;
  await db.audit.create({ data });
  const before = written.get(action) ?? 0;
  written.set(action, before + 1);
  if (before % EVERY === 0) await keepNewest(db, action, action === 'config' ? MAX_CHANGES : MAX_RECORDED);
}

/** Deletes all but the newest rows of a kind. */
export async function keepNewest(db: Database, action: string, most: number): Promise<void> {
  const oldest = await db.audit.findFirst({
    where: { action },
    orderBy: { id: 'desc' },
    skip: most,
    select: { id: true },
  });
  if (oldest !== null) await db.audit.deleteMany({ where: { action, id: { lte: oldest.id } } });
}
