/** Queues as a list that an import reads, to bring them back. Pure. */
import type { Menu } from '@tollway/schema';
import type { Row } from '../../../api/row.ts';

/** Properties that a list can give. */
export function listedProperties(menu: Menu): readonly string[] {
  return Object.entries(menu.props)
    .filter(([, prop]) => prop.readOnly !== true && prop.secret !== true)
    .map(([name]) => name);
}

const quoted = (text: string): string => (/[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/**
 * A list that makes queues again what they were: all are named, with the settings in which they differ now. What had
 * no value and has one now (a comment, say) keeps it, as a list cannot take values away.
 */
export function listBack(menu: Menu, before: readonly Row[], now: readonly Row[]): string {
  const names = listedProperties(menu);
  const present = new Map(now.map((row) => [row.name, row]));
  const cell = (row: Row, name: string): string => {
    const other = present.get(row.name);
    const usual = menu.props[name]?.default;
    const value = row[name] ?? usual ?? '';
    if (name === 'name') return value;
    return value === (other === undefined ? usual : (other[name] ?? usual)) ? '' : value;
  };
  const own = before.filter((row) => row.dynamic !== 'true');
  const lines = own.map((row) => names.map((name) => quoted(cell(row, name))));
  return [names, ...lines].map((cells) => `${cells.join(',')}\r\n`).join('');
}
