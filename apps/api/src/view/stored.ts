import { FIRST_BUILTIN_ROW, type Menu, type Prop } from '@tollway/schema';
import { fixedValues } from '../snapshot/builtin.js';
import { type Row, rowIdText } from '../snapshot/snapshot.js';
import { yesNo } from './rows.js';

/**
 * A stored row as REST sends it: its values, defaults for absent values, and its flags.
 * @param reason reason why the row is invalid, if it is.
 */
export function storedRow(menu: Menu, row: Row, reason?: string): Record<string, string> {
  // Most rows are not built-in, and there may be a hundred thousand: their values are not copied.
  const given = row.id < FIRST_BUILTIN_ROW ? row.values : { ...row.values, ...fixedValues(menu, row.id) };
  const rest: Record<string, string> = { '.id': rowIdText(row.id), ...values(menu, given) };
  if (menu.props.disabled !== undefined) rest.disabled = yesNo(row.disabled);
  if (row.comment !== '' && menu.props.comment !== undefined) rest.comment = row.comment;
  if (menu.props.dynamic !== undefined) rest.dynamic = 'false';
  if (menu.props.invalid !== undefined) rest.invalid = yesNo(reason !== undefined);
  if (reason !== undefined) rest['.about'] = reason;
  return rest;
}

/** The object of a settings menu. */
export function settingsRow(menu: Menu, row: Row | undefined): Record<string, string> {
  return values(menu, row?.values ?? {});
}

function values(menu: Menu, given: Readonly<Record<string, string>>): Record<string, string> {
  const rest: Record<string, string> = {};
  for (const [name, prop] of Object.entries(menu.props)) {
    if (prop.secret) continue;
    const value = given[name] ?? (hasMeaning(menu, prop, given) ? prop.default : undefined);
    if (value === undefined || (name === 'comment' && value === '')) continue;
    rest[name] = prop.kind.fromStored?.(value) ?? value;
  }
  return rest;
}

/** Whether a property has a meaning for this row: defaults of other properties are not shown. */
function hasMeaning(menu: Menu, prop: Prop, given: Readonly<Record<string, string>>): boolean {
  if (prop.when === undefined) return true;
  const value = given[prop.when.prop] ?? menu.props[prop.when.prop]?.default;
  return value !== undefined && prop.when.values.includes(value);
}
