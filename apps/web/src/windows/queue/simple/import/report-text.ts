/** Texts about an import. Pure. */

import type { ImportAction, ImportLine, ImportReport } from '@tollway/protocol/queue-import';
import { thousands } from '@tollway/schema';

/** Actions with their titles, in order of importance. */
export const ACTION_TITLES: Readonly<Record<ImportAction, string>> = {
  error: 'Errors',
  remove: 'Removals',
  change: 'Changes',
  add: 'Additions',
  same: 'Unchanged',
};

/** Selection of the lines of a report to show. */
export type Show = 'all' | 'hints' | ImportAction;

type Counts = Readonly<Record<ImportAction | 'hints', number>>;

export function countsOf(lines: readonly ImportLine[]): Counts {
  const counts = { error: 0, remove: 0, change: 0, add: 0, same: 0, hints: 0 };
  for (const { action, hint } of lines) {
    counts[action] += 1;
    if (hint !== '') counts.hints += 1;
  }
  return counts;
}

const ORDER = Object.keys(ACTION_TITLES);

/** The lines to show: errors first, then by line number; queues without a line last. */
export function shownLines(lines: readonly ImportLine[], show: Show): readonly ImportLine[] {
  const passes = ({ action, hint }: ImportLine) => show === 'all' || (show === 'hints' ? hint !== '' : action === show);
  const rank = ({ action }: ImportLine) => (action === 'error' ? -1 : ORDER.indexOf(action));
  return lines
    .filter(passes)
    .toSorted((a, b) => Math.sign(rank(a) - rank(b)) || (a.line || Infinity) - (b.line || Infinity) || 0);
}

const queues = (count: number): string => `${thousands(String(count))} ${count === 1 ? 'queue' : 'queues'}`;

function deeds({ add, change, remove }: Counts, verbs: readonly [string, string, string]): string {
  const parts = [
    [add, verbs[0]],
    [change, verbs[1]],
    [remove, verbs[2]],
  ] as const;
  return parts
    .filter(([count]) => count > 0)
    .map(([count, verb]) => `${verb} ${queues(count)}`)
    .join(', ');
}

/** A report in one sentence. */
export function reportText({ lines, revision }: ImportReport): string {
  const counts = countsOf(lines);
  if (revision !== undefined) {
    const done = deeds(counts, ['added', 'changed', 'removed']);
    return `Revision ${revision}: ${done}.`;
  }
  if (lines.length === 0) return 'The list names no queue.';
  if (counts.error > 0) {
    const count = thousands(String(counts.error));
    return `${count} ${counts.error === 1 ? 'line is' : 'lines are'} wrong. Nothing can be applied until they are mended.`;
  }
  const would = deeds(counts, ['add', 'change', 'remove']);
  return would === '' ? 'The queues are already as the list says.' : `Would ${would}, in one revision.`;
}

/** Text about a completed import, for its message and the history of this page. */
export function importNews({ lines }: ImportReport): string {
  return `Imported subscribers: ${deeds(countsOf(lines), ['added', 'changed', 'removed'])}.`;
}

/** Whether applying the report would change something, and no error prevents it. */
export function isApplicable({ lines, revision }: ImportReport): boolean {
  const { error, add, change, remove } = countsOf(lines);
  return revision === undefined && error === 0 && add + change + remove > 0;
}

/** Report of an import, with the hints of the preceding dry run: the digest ensures that the lines are the same. */
export function withHintsOf(done: ImportReport, dryRun: ImportReport | undefined): ImportReport {
  const lines = done.lines.map((line, index) => ({ ...line, hint: dryRun?.lines[index]?.hint ?? line.hint }));
  return { ...done, lines };
}
