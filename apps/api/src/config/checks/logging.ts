import { isIPv6 } from 'node:net';
import { shown } from '@tollway/schema';
import { isUnspecified } from '../../compiler/logging.js';
import { regexProblem } from '../../posix-regex/regex.js';
import { builtinNames, withBuiltin } from '../../snapshot/builtin.js';
import { nameOf } from '../../snapshot/rows-by-key.js';
import { type FieldError, fault, type ProposedRow } from '../proposed-row.js';

/** `/system/logging` */
export function checkLogRule({ values: { regex }, given }: ProposedRow): FieldError | undefined {
  const problem = regex === undefined || !given.has('regex') ? undefined : regexProblem(regex);
  if (problem === undefined) return undefined;
  return fault('regex', `value of regex: ${shown(regex ?? '')} is no extended regular expression of POSIX: ${problem}`);
}

/** `/system/logging/action` */
export function checkLogAction({ menu, values, before, others }: ProposedRow): FieldError | undefined {
  const { name = '', target } = values;
  const builtin = builtinNames(menu.path);
  if (before?.name !== undefined && before.name !== name && builtin.includes(before.name)) {
    return fault('name', `value of name: a builtin log action keeps its name, ${before.name}`);
  }
  if (before?.name !== name && (builtin.includes(name) || others.has(nameOf, name))) {
    return fault('name', `failure: already have log action with such name: ${name} (value of name must be unique)`);
  }
  const of = (row: Readonly<Record<string, string>>, property: string): string =>
    row[property] ?? menu.props[property]?.default ?? '';
  if (target === 'disk') {
    const file = of(values, 'disk-file-name');
    const other = withBuiltin(menu, others.all()).find(
      (row) =>
        row.values.name !== before?.name && row.values.target === 'disk' && of(row.values, 'disk-file-name') === file,
    );
    if (other !== undefined) {
      return fault(
        'disk-file-name',
        `value of disk-file-name: ${file} is written by action ${other.values.name}; give another name`,
      );
    }
  }
  if (target === 'remote') {
    const [remote, source] = [of(values, 'remote'), of(values, 'src-address')];
    if (!isUnspecified(remote) && !isUnspecified(source) && isIPv6(remote) !== isIPv6(source)) {
      return fault('src-address', `value of src-address: ${source} is not of the version of IP of remote, ${remote}`);
    }
  }
  return undefined;
}
