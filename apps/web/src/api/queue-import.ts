/** Subscribers as simple queues, from a comma separated list: what it would change, and the change. */
import type { ImportReport, queueImport, queueImportUndo } from '@tollway/protocol/queue-import';
import { ask, harmless } from './rest.ts';

interface ImportOptions {
  /** Only tells what would change. */
  readonly dryRun: boolean;
  /** Also removes queues that the list does not name. */
  readonly remove: boolean;
  /** Of the dry run that told what it does: the router refuses when that is something else by now. */
  readonly digest?: string | undefined;
}

/** Takes back what a revision did to simple queues. @throws RequestError */
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
  return dryRun ? harmless(sent) : sent;
}
