/** Rows as text for the clipboard: a line of titles, then a line for each row, with tabs between columns. */
import type { Row } from '../api/row.ts';
import { cellText } from './cells/text.ts';
import type { Column } from './columns.ts';

/** Replaces characters that would end a cell or a line by spaces. */
function plain(text: string): string {
  return text.replaceAll(/[\t\r\n]+/g, ' ');
}

export function rowsText(columns: readonly Column[], rows: readonly Row[]): string {
  const shown = columns.flatMap((column) => column.source ?? []);
  const lines = [
    shown.map((column) => column.label),
    ...rows.map((row) => shown.map((column) => cellText(column, row))),
  ];
  return lines.map((line) => line.map(plain).join('\t')).join('\n');
}
