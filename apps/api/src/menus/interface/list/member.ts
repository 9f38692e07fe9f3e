import { type FieldError, fieldError, type ProposedRow } from '../../../config/proposed-row.js';
import { builtinNames } from '../../../snapshot/builtin.js';
import type { KeyOf } from '../../../snapshot/rows-by-key.js';
import { rowsOf } from '../../../snapshot/snapshot.js';
import type { MenuModule } from '../../module.js';

const memberOf: KeyOf = (values) => `${values.interface} ${values.list}`;

/** `/interface/list/member` */
function checkInterfaceListMember({ values, others, snapshot }: ProposedRow): FieldError | undefined {
  const { list = '', interface: name } = values;
  if (builtinNames('/interface/list').includes(list)) {
    const own = rowsOf(snapshot, '/interface/list').flatMap((row) => row.values.name ?? []);
    return fieldError(
      'list',
      `value of list: ${list} is built in and takes no members; give one of ${own.join(', ') || '(none exist)'}`,
    );
  }
  if (others.has(memberOf, `${name} ${list}`)) {
    return fieldError('interface', `failure: already have such interface list member: ${name} in ${list}`);
  }
  return undefined;
}

export const interfaceListMember: MenuModule = {
  path: '/interface/list/member',
  check: checkInterfaceListMember,
};
