import type { Database } from './client.js';

/** Rows of the audit that tell of one kind of action; the oldest go first. */
export const MAX_RECORDED = 10_000;
/** The same of changes of the configuration. */
const MAX_CHANGES = 100_000;
/** Rows of a kind after which those that are too old are looked for, which takes a walk through all. */
const EVERY = 100;
/** Rows of each kind that this process has written. Their ids say nothing of that: all kinds share them. */
const written = new Map<string, number>();

/** Writes a row of the audit; now and then those of its kind that are too old go. */
export async function record(
  db: Database,
  data: {
    /** Who did it. */
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

/** Lets go all rows of a kind but the newest. */
export async function keepNewest(db: Database, action: string, most: number): Promise<void> {
  const oldest = await db.audit.findFirst({
    where: { action },
    orderBy: { id: 'desc' },
    skip: most,
    select: { id: true },
  });
  if (oldest !== null) await db.audit.deleteMany({ where: { action, id: { lte: oldest.id } } });
}
