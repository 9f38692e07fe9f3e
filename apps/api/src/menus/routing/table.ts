import { FIRST_DYNAMIC_ROW } from '@tollway/dataplane-agent/records';
import { FIRST_BUILTIN_ROW } from '@tollway/schema';
import { compileTables } from '../../compiler/routing-tables.js';
import { type FieldError, fieldError, type ProposedRow } from '../../config/proposed-row.js';
import { referrersByName } from '../../config/references.js';
import type { ConfigStore } from '../../config/store.js';
import { TimeSlicer } from '../../scheduling/time-slicer.js';
import { type ConfigSnapshot, type Row, rowIdText, rowsOf } from '../../snapshot/snapshot.js';
import { VRFS } from '../../snapshot/vrfs.js';
import type { ReadLive } from '../../view/live-rows.js';
import { ArrayRows, type RestRow, yesNo } from '../../view/rows.js';
import type { MenuModule } from '../module.js';

const MENU = '/routing/table';

/** A table shares its name with no VRF, which has a table of that name. */
function checkTable({ values: { name }, snapshot }: ProposedRow): FieldError | undefined {
  return name !== undefined && rowsOf(snapshot, VRFS).some((vrf) => vrf.values.name === name)
    ? fieldError('name', `failure: already have VRF with such name: ${name} (value of name must be unique)`)
    : undefined;
}

const tableOf = (vrf: Row): RestRow => ({
  '.id': rowIdText(FIRST_DYNAMIC_ROW + vrf.id),
  name: vrf.values.name ?? '',
  fib: 'true',
  disabled: 'false',
  dynamic: 'true',
  invalid: 'false',
  used: 'true',
  comment: vrf.comment,
});

const known = new WeakMap<ConfigSnapshot, Promise<ReadonlySet<string>>>();

/** Names of the tables that enabled routes, rules and marks name, found once for each configuration. */
function usedTables(snapshot: ConfigSnapshot): Promise<ReadonlySet<string>> {
  let used = known.get(snapshot);
  if (used === undefined) {
    used = new TimeSlicer().finish(referrersByName(snapshot, MENU)).then((referrers) => {
      const enabled = [...referrers].filter(([, rows]) => rows.some(({ row }) => !row.disabled));
      return new Set(enabled.map(([name]) => name));
    });
    known.set(snapshot, used);
  }
  return used;
}

/** Which tables are used, and the tables of enabled VRFs, which the system makes. */
const readTables =
  (store: Pick<ConfigStore, 'snapshot'>): ReadLive =>
  async () => {
    const used = await usedTables(store.snapshot);
    return ({ snapshot, rows }) => {
      const vrfs = rowsOf(snapshot, VRFS).filter(({ disabled }) => !disabled);
      // The main table is the system's, too, though it is listed as a builtin item, which others may name.
      const isMade = (id: number) => id >= FIRST_BUILTIN_ROW;
      const byId = new Map(rows.map((row) => [row.id, row]));
      const isUsed = (row: Row | undefined) => row?.disabled === false && used.has(row.values.name ?? '');
      const value = (id: number, property: string) =>
        yesNo(isMade(id) || (property === 'used' && isUsed(byId.get(id))));
      return { values: { properties: ['dynamic', 'used'], value }, below: new ArrayRows(vrfs.map(tableOf)) };
    };
  };

export const routingTable: MenuModule = {
  path: MENU,
  check: checkTable,
  compile: (context) => ({ 'routing-tables': context.once(compileTables) }),
  liveRows: ({ store }) => readTables(store),
};
