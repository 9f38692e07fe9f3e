import { FIRST_DYNAMIC_ROW } from '@tollway/dataplane-agent/records';
import { FIRST_BUILTIN_ROW } from '@tollway/schema';
import { compileTables } from '../../compiler/routing-tables.js';
import { type FieldError, fieldError, type ProposedRow } from '../../config/proposed-row.js';
import { type Row, rowIdText, rowsOf } from '../../snapshot/snapshot.js';
import { VRFS } from '../../snapshot/vrfs.js';
import type { ReadLive } from '../../view/live-rows.js';
import { ArrayRows, type RestRow, yesNo } from '../../view/rows.js';
import type { MenuModule } from '../module.js';

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
  comment: vrf.comment,
});

/** The tables of enabled VRFs, which the system makes. */
const readTables: ReadLive =
  async () =>
  ({ snapshot }) => {
    const vrfs = rowsOf(snapshot, VRFS).filter(({ disabled }) => !disabled);
    // The main table is the system's, too, though it is listed as a builtin item, which others may name.
    const value = (id: number) => yesNo(id >= FIRST_BUILTIN_ROW);
    return { values: { properties: ['dynamic'], value }, below: new ArrayRows(vrfs.map(tableOf)) };
  };

export const routingTable: MenuModule = {
  path: '/routing/table',
  check: checkTable,
  compile: (context) => ({ 'routing-tables': context.once(compileTables) }),
  liveRows: () => readTables,
};
