/** Import of subscribers as simple queues from a comma separated list: dry run, import and undo. */
import type { ImportReport, queueImport, queueImportUndo } from '@tollway/protocol/queue-import';
import { ask, idempotent } from './rest.ts';

interface ImportOptions {
  /** Dry run: reports the changes without making them. */
  readonly dryRun: boolean;
  /** Removes queues that are not in the list, too. */
  readonly remove: boolean;
  /** Digest of the dry run: the router refuses the import if its result would now differ. */
  readonly digest?: string | undefined;
}

/** Undoes the changes of a revision to simple queues. @throws RequestError */
export const undoImport = (revision: number): Promise<ImportReport> =>
  ask<typeof queueImportUndo>('POST', '/api/v1/queues/import/undo', { revision });

/** @throws RequestError */
export function importQueues(csv: string, { dryRun, remove, digest }: ImportOptions): Promise<ImportReport> {
  const sent = ask<typeof queueImport>('POST', '/api/v1/queues/import', {
    csv,
    'dry-run': dryRun,
    remove,
    ...(digest !== undefined && { digest }),
  });
  return dryRun ? idempotent(sent) : sent;
}
