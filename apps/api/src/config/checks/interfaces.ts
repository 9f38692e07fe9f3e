import { builtinNames } from '../../snapshot/builtin.js';
import { type KeyOf, nameOf } from '../../snapshot/rows-by-key.js';
import { type Row, rowsOf } from '../../snapshot/snapshot.js';
import { type FieldError, fault, type ProposedRow } from '../proposed-row.js';
import { notUnicast } from './addresses.js';

const memberOf: KeyOf = (values) => `${values.interface} ${values.list}`;

/** `/interface` and `/interface/ethernet` */
export function checkEthernet({ values, given, snapshot }: ProposedRow): FieldError | undefined {
  const { name } = values;
  if (given.has('name') && rowsOf(snapshot, '/queue/tree').some((row) => row.values.name === name)) {
    return fault('name', `value of name: ${name} is a queue tree, and as a parent would mean both; give another name`);
  }
  const mac = values['mac-address'] === undefined ? undefined : notUnicast(values['mac-address']);
  return mac ? fault('mac-address', mac) : undefined;
}

/** `/interface/list` */
export function checkInterfaceList({ menu, values, others }: ProposedRow): FieldError | undefined {
  const name = values.name ?? '';
  if (builtinNames(menu.path).includes(name) || others.has(nameOf, name)) {
    return fault('name', `failure: already have interface list with such name: ${name} (value of name must be unique)`);
  }
  for (const property of ['include', 'exclude']) {
    const parts = (values[property] ?? '').split(',');
    const looping = parts.find((part) => part === name || leadsTo(part, name, others.all(), new Set()));
    if (looping !== undefined && name !== '') {
      return fault(
        property,
        `value of ${property}: ${looping} leads back to ${name}; give lists that do not refer to this one`,
      );
    }
  }
  return undefined;
}

/** Whether a list refers to `goal` through its includes and excludes. */
function leadsTo(list: string, goal: string, rows: readonly Row[], seen: Set<string>): boolean {
  if (seen.has(list)) return false;
  seen.add(list);
  const row = rows.find(({ values }) => values.name === list);
  const parts = [row?.values.include, row?.values.exclude].flatMap((text) => (text ? text.split(',') : []));
  return parts.some((part) => part === goal || leadsTo(part, goal, rows, seen));
}

/** `/interface/list/member` */
export function checkInterfaceListMember({ values, others, snapshot }: ProposedRow): FieldError | undefined {
  const { list = '', interface: name } = values;
  if (builtinNames('/interface/list').includes(list)) {
    const own = rowsOf(snapshot, '/interface/list').flatMap((row) => row.values.name ?? []);
    return fault(
      'list',
      `value of list: ${list} is built in and takes no members; give one of ${own.join(', ') || '(none exist)'}`,
    );
  }
  if (others.has(memberOf, `${name} ${list}`)) {
    return fault('interface', `failure: already have such interface list member: ${name} in ${list}`);
  }
  return undefined;
}
