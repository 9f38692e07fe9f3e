import { type FieldError, fieldError, type ProposedRow } from '../../config/proposed-row.js';
import type { Row } from '../../snapshot/snapshot.js';
import type { MenuModule } from '../module.js';

/** Refuses lists that include or exclude themselves. */
function checkInterfaceList({ values, others }: ProposedRow): FieldError | undefined {
  const name = values.name ?? '';
  for (const property of ['include', 'exclude']) {
    const parts = (values[property] ?? '').split(',');
    const looping = parts.find((part) => part === name || leadsTo(part, name, others.all(), new Set()));
    if (looping !== undefined && name !== '') {
      return fieldError(
        property,
        `value of ${property}: ${looping} leads back to ${name}; give lists that do not refer to this one`,
      );
    }
  }
  return undefined;
}

/** Whether a list includes or excludes `goal`, directly or through other lists. */
function leadsTo(list: string, goal: string, rows: readonly Row[], seen: Set<string>): boolean {
  if (seen.has(list)) return false;
  seen.add(list);
  const row = rows.find(({ values }) => values.name === list);
  const parts = [row?.values.include, row?.values.exclude].flatMap((text) => (text ? text.split(',') : []));
  return parts.some((part) => part === goal || leadsTo(part, goal, rows, seen));
}

export const interfaceList: MenuModule = {
  path: '/interface/list',
  check: checkInterfaceList,
};
