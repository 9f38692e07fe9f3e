import type { Database } from './client.js';

/** Maximum number of audit rows for each kind of action; older rows are deleted. */
export const MAX_RECORDED = 10_000;
/** {@link MAX_RECORDED} for changes of the configuration. */
const MAX_CHANGES = 100_000;
/** Number of rows of a kind that are written between two deletions: a deletion scans the table. */
const EVERY = 100;
/** Number of rows of each kind that this process has written. Ids cannot be used as counts, as all kinds share them. */
const written = new Map<string, number>();

/** Writes a row of the audit, and after every {@link EVERY} rows deletes the oldest rows of its kind. */
export async function record(
  db: Database,
  data: {
    /** Name of the user who carried out the action. */
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
