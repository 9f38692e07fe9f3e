import { type Menu, menuByPath, type Prop, registry, splitNot } from '@tollway/schema';
import { storageOf } from './items.js';
import { type ConfigSnapshot, type Row, rowsOf } from './snapshot.js';
import { namesIn } from './verify.js';

/** A row that names an item of another menu. */
export interface Referrer {
  readonly menu: string;
  readonly row: Row;
}

/** Menus that have properties of stored rows. */
const holdingRows = registry.filter(({ stored, rowsOf: other }) => stored || other !== undefined);

/** Properties of a menu that name items of `menu`, the menu that holds the rows. */
function referringProps(candidate: Menu, menu: string): [string, Prop][] {
  return Object.entries(candidate.props).filter(([, { kind }]) =>
    kind.ref?.some((ref) => (menuByPath(ref.menu)?.rowsOf ?? ref.menu) === menu && ref.prop === 'name'),
  );
}

/** Names of items of `menu` that other rows name, each with one of those rows. */
export function namesInUse(snapshot: ConfigSnapshot, menu: string): ReadonlyMap<string, Referrer> {
  const uses = new Map<string, Referrer>();
  for (const candidate of holdingRows) {
    const properties = referringProps(candidate, menu);
    if (properties.length === 0) continue;
    for (const row of rowsOf(snapshot, storageOf(candidate))) {
      for (const [property, prop] of properties) {
        const value = row.values[property];
        for (const name of value === undefined ? [] : namesIn(prop, value)) {
          if (!uses.has(name)) uses.set(name, { menu: candidate.path, row });
        }
      }
    }
  }
  return uses;
}

/**
 * Rows, as they must become, that refer to an item of `menu` by its old name: references follow a rename.
 * `menu` is the menu that holds the row (`/interface/ethernet` for interfaces).
 */
export function followRename(snapshot: ConfigSnapshot, menu: string, from: string, to: string): Referrer[] {
  return holdingRows.flatMap((candidate) => {
    const properties = referringProps(candidate, menu);
    return rowsOf(snapshot, storageOf(candidate)).flatMap((row) => {
      const changed = properties.flatMap(([property, prop]) => {
        const value = row.values[property];
        if (value === undefined || !namesIn(prop, value).includes(from)) return [];
        const { negate, text } = prop.not ? splitNot(value) : { negate: false, text: value };
        return [[property, (negate ? '!' : '') + replaced(prop.kind.name, text, from, to)] as const];
      });
      if (changed.length === 0) return [];
      return [
        { menu: storageOf(candidate), row: { ...row, values: { ...row.values, ...Object.fromEntries(changed) } } },
      ];
    });
  });
}

function replaced(kind: string, text: string, from: string, to: string): string {
  if (kind === 'ref-list' || kind === 'queue-target-list' || kind === 'pair') {
    const separator = kind === 'pair' ? '/' : ',';
    return text
      .split(separator)
      .map((name) => (name === from ? to : name))
      .join(separator);
  }
  if (kind === 'nexthop' && text.includes('%')) return `${text.slice(0, text.indexOf('%'))}%${to}`;
  return to;
}
