import { type Menu, menuByPath } from '@tollway/schema';
import { type Draft, equal, type RowChange } from '../config/draft.js';
import { namesInUse } from '../config/references.js';
import { nameOf } from '../config/rows-by-key.js';
import { verifySet } from '../config/verify.js';
import { errors } from '../errors.js';
import type { ImportLine } from './queues.js';
import { told } from './told.js';

const PATH = '/queue/simple';

/**
 * Takes back what a revision did to simple queues: values that it gave are gone, and queues that it removed are again
 * where they were.
 * @returns what became of each queue.
 * @throws ApiError naming the queue, when one is not any more as the revision left it, when what it refers to is gone,
 * or when others refer to a queue that would go; nothing may be committed then.
 */
export function takeBack(draft: Draft, revision: number, changes: readonly RowChange[]): readonly ImportLine[] {
  const menu = menuByPath(PATH);
  if (menu === undefined) throw new Error(`there is no menu ${PATH}`);
  const elsewhere = changes.find((change) => change.menu !== PATH);
  if (changes.length === 0 || elsewhere !== undefined) {
    throw errors.failure(`revision ${revision} changed ${elsewhere?.menu ?? 'nothing'}, and not simple queues alone`);
  }
  for (const { id, after } of changes) {
    const now = draft.find(PATH, id);
    if (after !== undefined && (now === undefined || !equal(now, after))) {
      throw refusal(after.values.name, `was ${now === undefined ? 'removed' : 'changed'} after revision ${revision}`);
    }
  }
  draft.takeBack(PATH, changes);
  check(menu, draft, changes);
  return changes.map((change) => line(menu, change));
}

const refusal = (name: string | undefined, why: string) =>
  errors.failure(`queue ${name} ${why}; nothing was taken back`);

/** The queues must be possible beside what has come since. */
function check(menu: Menu, draft: Draft, changes: readonly RowChange[]): void {
  const rows = draft.byKey(PATH);
  for (const { id, before } of changes) {
    const row = before === undefined ? undefined : draft.find(PATH, id);
    if (row === undefined) continue;
    const verified = verifySet(menu, row, row.values, draft.snapshot(), rows);
    if (!verified.ok) throw refusal(row.values.name, `cannot come back: ${verified.errors[0].detail}`);
  }
  const uses = namesInUse(draft.snapshot(), PATH);
  for (const { after } of changes) {
    const name = after?.values.name ?? '';
    const user = rows.having(nameOf, name).size > 0 ? undefined : uses.get(name);
    if (user !== undefined) throw refusal(name, `is the parent of ${user.row.values.name}, which came later`);
  }
}

function line(menu: Menu, { id, before, after }: RowChange): ImportLine {
  const common = { line: 0, name: (before ?? after)?.values.name ?? '', hint: '', row: id };
  if (before === undefined) return { ...common, action: 'remove', text: `target ${after?.values.target}` };
  return { ...common, action: after === undefined ? 'add' : 'change', text: told(menu, after, before) };
}
