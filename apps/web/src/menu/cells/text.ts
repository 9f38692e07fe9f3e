/** Content of a cell: the text for people, and additional formatting. */
import { columnValue, displayValue, editValue, type Menu, type MenuColumn, type Prop } from '@tollway/schema';
import type { Row } from '../../api/row.ts';

/** True for the properties that are boolean and set. */
export function isSet(row: Row, prop: string): boolean {
  const value = row[prop];
  return value === 'true' || value === 'yes';
}

/** Letters of the flags that are set, in the order of the menu. */
export function flagLetters(menu: Menu, row: Row): string {
  let letters = '';
  for (const flag of menu.flags) if (isSet(row, flag.prop)) letters += flag.letter;
  return letters;
}

/** The flags in words, for tooltips and the line under a dialog. */
export function flagWords(menu: Menu, row: Row): string {
  return menu.flags
    .filter((flag) => isSet(row, flag.prop))
    .map((flag) => flag.title)
    .join(', ');
}

/** Text of a property in a read-only field. */
export function valueText(prop: Prop, value: string | undefined): string {
  return value === undefined ? '' : displayValue(prop, value);
}

/**
 * Text of a column in a row. Values that users set are shown as exactly as they would be typed; measured values are
 * rounded.
 */
export function cellText(column: MenuColumn, row: Row): string {
  const value = columnValue(column, row[column.property]);
  if (value === undefined) return '';
  const { kind, prop } = column;
  return prop.readOnly !== true && kind.edit !== undefined ? editValue(kind, value) : (kind.display?.(value) ?? value);
}

/** Reason why an item is invalid, if the server gives one. */
export function reason(row: Row): string | undefined {
  const about = row['.about'];
  return about === undefined || about === '' ? undefined : about;
}

/** Class of a row that follows from its state. */
export function rowTone(menu: Menu, row: Row): string {
  if (isSet(row, '.context')) return 'row-context';
  if (isSet(row, 'disabled')) return 'row-disabled';
  if (isSet(row, 'invalid')) return 'row-invalid';
  if (isSet(row, 'inactive')) return 'row-inactive';
  if (menu.severity !== undefined) {
    const topics = (row[menu.severity] ?? '').split(',');
    if (topics.includes('error') || topics.includes('critical')) return 'row-invalid';
    if (topics.includes('warning')) return 'row-warning';
  }
  if (isSet(row, 'dynamic')) return 'row-dynamic';
  return '';
}
