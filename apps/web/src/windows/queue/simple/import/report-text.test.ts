import type { ImportAction, ImportLine } from '@tollway/protocol/queue-import';
import { expect, test } from 'vitest';
import { countsOf, importNews, isApplicable, reportText, shownLines, withHintsOf } from './report-text.ts';

const line = (number: number, action: ImportAction, hint = ''): ImportLine => ({
  line: number,
  action,
  name: `q${number}`,
  text: '',
  hint,
});
const lines = [line(1, 'add'), line(2, 'same'), line(3, 'error'), line(4, 'add', 'odd'), line(0, 'remove')];
const good = lines.filter(({ action }) => action !== 'error');

test('errors come first, queues without a line where their kind stands', () => {
  expect(shownLines(lines, 'all').map((each) => each.line)).toEqual([3, 0, 1, 4, 2]);
  expect(shownLines(lines, 'add').map((each) => each.line)).toEqual([1, 4]);
  expect(shownLines(lines, 'hints').map((each) => each.line)).toEqual([4]);
  expect(countsOf(lines)).toEqual({ error: 1, remove: 1, change: 0, add: 2, same: 1, hints: 1 });
});

test('a report in one sentence', () => {
  expect(reportText({ lines: [], revision: undefined })).toBe('The list names no queue.');
  expect(reportText({ lines, revision: undefined })).toBe(
    '1 line is wrong. Nothing can be applied until they are mended.',
  );
  expect(reportText({ lines: good, revision: undefined })).toBe('Would add 2 queues, remove 1 queue, in one revision.');
  expect(reportText({ lines: [line(1, 'same')], revision: undefined })).toBe(
    'The queues are already as the list says.',
  );
  expect(reportText({ lines: good, revision: 7 })).toMatch(/^Revision 7: added 2 queues, removed 1 queue\./);
  expect(importNews({ lines: good, revision: 7 })).toBe('Imported subscribers: added 2 queues, removed 1 queue.');
  expect([lines, good, [line(1, 'same')]].map((each) => isApplicable({ lines: each, revision: undefined }))).toEqual([
    false,
    true,
    false,
  ]);
});

test('what was done keeps the hints of its dry run', () => {
  const line = { line: 1, action: 'add', name: 'dora', text: '', hint: '' } as const;
  const dryRun = { lines: [{ ...line, hint: 'gets no packets' }, line], revision: undefined, digest: 'd' };
  const done = withHintsOf({ lines: [line, line], revision: 7 }, dryRun);
  expect(done).toEqual({ lines: [{ ...line, hint: 'gets no packets' }, line], revision: 7 });
  expect(withHintsOf({ lines: [line], revision: 7 }, undefined).lines).toEqual([line]);
});
