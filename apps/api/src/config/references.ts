import { menuByPath, registry, splitNot } from '@tollway/schema';
import { type ConfigSnapshot, type Row, rowsOf } from './snapshot.js';
import { namesIn } from './verify.js';

/** A row that must change because an item it names got another name. */
export interface Renamed {
  readonly menu: string;
  readonly row: Row;
}

/**
 * Rows, as they must become, that refer to an item of `menu` by its old name: references follow a rename.
 * `menu` is the menu that holds the row (`/interface/ethernet` for interfaces).
 */
export function followRename(snapshot: ConfigSnapshot, menu: string, from: string, to: string): Renamed[] {
  return registry
    .filter((candidate) => candidate.stored)
    .flatMap((candidate) => {
      const properties = Object.entries(candidate.props).filter(([, { kind }]) =>
        kind.ref?.some((ref) => (menuByPath(ref.menu)?.rowsOf ?? ref.menu) === menu && ref.prop === 'name'),
      );
      return rowsOf(snapshot, candidate.path).flatMap((row) => {
        const changed = properties.flatMap(([property, prop]) => {
          const value = row.values[property];
          if (value === undefined || !namesIn(prop, value).includes(from)) return [];
          const { negate, text } = prop.not ? splitNot(value) : { negate: false, text: value };
          return [[property, (negate ? '!' : '') + replaced(prop.kind.name, text, from, to)] as const];
        });
        if (changed.length === 0) return [];
        return [{ menu: candidate.path, row: { ...row, values: { ...row.values, ...Object.fromEntries(changed) } } }];
      });
    });
}

function replaced(kind: string, text: string, from: string, to: string): string {
  if (kind === 'ref-list')
    return text
      .split(',')
      .map((name) => (name === from ? to : name))
      .join(',');
  if (kind === 'nexthop' && text.includes('%')) return `${text.slice(0, text.indexOf('%'))}%${to}`;
  return to;
}
