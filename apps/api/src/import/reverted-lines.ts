import { menuByPath } from '@tollway/schema';
import { describeChange } from '../config/change-summary.js';
import type { RowChange } from '../config/draft.js';
import type { ImportLine } from './queues.js';

/** Result for each queue when changes of simple queues were undone, in the form of lines of an import. */
export function revertedLines(changes: readonly RowChange[]): readonly ImportLine[] {
  return changes.map(({ menu: path, id, before, after }): ImportLine => {
    const menu = menuByPath(path);
    const common = { line: 0, name: (before ?? after)?.values.name ?? '', hint: '', row: id };
    if (before === undefined) return { ...common, action: 'remove', text: `target ${after?.values.target}` };
    const text = menu === undefined ? '' : describeChange(menu, after, before);
    return { ...common, action: after === undefined ? 'add' : 'change', text };
  });
}
