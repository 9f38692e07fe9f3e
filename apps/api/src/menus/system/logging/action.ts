import { isIPv6 } from 'node:net';
import { findItems, namedItems, noSuchItem } from '../../../config/items.js';
import { type FieldError, fieldError, type ProposedRow } from '../../../config/proposed-row.js';
import { errors } from '../../../errors.js';
import { isUnspecified } from '../../../logging/settings.js';
import { type Answer, type Call, NOTHING } from '../../../services.js';
import { withBuiltin } from '../../../snapshot/builtin.js';
import { rowsOf } from '../../../snapshot/snapshot.js';
import type { MenuModule } from '../../module.js';

export const systemLoggingAction: MenuModule = {
  path: '/system/logging/action',
  check: checkAction,
  commands: { clear },
};

function checkAction({ menu, values, before, others }: ProposedRow): FieldError | undefined {
  const { target } = values;
  const of = (row: Readonly<Record<string, string>>, property: string): string =>
    row[property] ?? menu.props[property]?.default ?? '';
  if (target === 'disk') {
    const file = of(values, 'disk-file-name');
    const other = withBuiltin(menu, others.all()).find(
      (row) =>
        row.values.name !== before?.name && row.values.target === 'disk' && of(row.values, 'disk-file-name') === file,
    );
    if (other !== undefined) {
      return fieldError(
        'disk-file-name',
        `value of disk-file-name: ${file} is written by action ${other.values.name}; give another name`,
      );
    }
  }
  if (target === 'remote') {
    const [remote, source] = [of(values, 'remote'), of(values, 'src-address')];
    if (!isUnspecified(remote) && !isUnspecified(source) && isIPv6(remote) !== isIPv6(source)) {
      return fieldError(
        'src-address',
        `value of src-address: ${source} is not of the version of IP of remote, ${remote}`,
      );
    }
  }
  return undefined;
}

/** Deletes the messages in memory of all named actions; if one of the actions cannot be cleared, of none. */
async function clear({ services, menu, args }: Call): Promise<Answer> {
  const all = withBuiltin(menu, rowsOf(services.store.snapshot, menu.path));
  const rows = await findItems(menu, all, await namedItems(args), noSuchItem);
  const other = rows.find(({ values }) => values.target !== 'memory');
  if (other !== undefined) {
    const { name, target } = other.values;
    throw errors.failure(`action ${name} holds no messages: its target is ${target}; only memory can be cleared`);
  }
  for (const { id } of rows) services.log.clear(id);
  return NOTHING;
}
