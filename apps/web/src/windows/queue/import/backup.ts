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

/** All queues with all their settings, those in force by themselves included: a line of titles, then one for each. */
export function listOf(menu: Menu, rows: readonly Row[]): string {
  const names = listedProperties(menu);
  const own = rows.filter((row) => row.dynamic !== 'true');
  const lines = own.map((row) => names.map((name) => quoted(row[name] ?? menu.props[name]?.default ?? '')));
  return [names, ...lines].map((cells) => `${cells.join(',')}\r\n`).join('');
}
