import { menuByPath } from '@tollway/schema';
import { verifyAdd } from '../../src/config/verify.js';
import { menuChecks } from '../../src/menus/index.js';
import type { ConfigSnapshot, Row } from '../../src/snapshot/snapshot.js';

/** A row as a test writes it; `disabled` and `comment` beside the values, and the id where it matters. */
export interface Written {
  readonly [property: string]: string | undefined;
}

/** A snapshot out of plain rows; ids count from 1 over all menus in the order written, unless `.id` says otherwise. */
export function snapshotOf(menus: Readonly<Record<string, readonly Written[]>>): ConfigSnapshot {
  let next = 1;
  return new Map(
    Object.entries(menus).map(([menu, rows]): [string, Row[]] => [
      menu,
      rows.map(({ '.id': id, disabled, comment = '', ...values }) => ({
        id: id === undefined ? next++ : Number(id),
        disabled: disabled === 'true',
        comment,
        values: Object.fromEntries(
          Object.entries(values).filter((pair): pair is [string, string] => pair[1] !== undefined),
        ),
      })),
    ]),
  );
}

/** Ports ether1 … ether`count` as rows 1 … `count`. */
export const ports = (count: number): Written[] =>
  Array.from({ length: count }, (_, index) => ({ 'default-name': `ether${index + 1}`, name: `ether${index + 1}` }));

/** Snapshot after adding rows one by one through verification. Throws when one is refused. */
export function added(
  base: ConfigSnapshot,
  rows: readonly { menu: string; body: Record<string, unknown> }[],
): ConfigSnapshot {
  const snapshot = new Map(base);
  let next = 1 + Math.max(0, ...[...base.values()].flat().map(({ id }) => id));
  for (const { menu: path, body } of rows) {
    const menu = menuByPath(path);
    if (!menu) throw new Error(`no menu ${path}`);
    const verified = verifyAdd(menuChecks, menu, body, snapshot);
    if (!verified.ok) throw new Error(`${path} ${JSON.stringify(body)}: ${verified.errors[0].detail}`);
    snapshot.set(path, [...(snapshot.get(path) ?? []), { id: next++, ...verified.content }]);
  }
  return snapshot;
}
