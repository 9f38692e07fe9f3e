import type { Prefix, RoutingAction, RoutingRule } from '@tollway/dataplane-agent';
import { addressText, networkOf } from '@tollway/schema';
import { type CompileContext, effective, requiredValue } from '../../compiler/context.js';
import { InvalidRow } from '../../compiler/invalid-row.js';
import { routingMark, tableNumber } from '../../compiler/routing-tables.js';
import { type FieldError, fieldError, type ProposedRow } from '../../config/proposed-row.js';
import type { Row } from '../../snapshot/snapshot.js';
import type { ReadLive } from '../../view/live-rows.js';
import type { MenuModule } from '../module.js';

const MENU = '/routing/rule';

const familyOf = (network: string) => (network.includes(':') ? 'ipv6' : 'ip');

const looksUp = (action: string | undefined): boolean => action === 'lookup' || action === 'lookup-only-in-table';

function checkRule({ values, menu }: ProposedRow): FieldError | undefined {
  const { 'src-address': source, 'dst-address': destination, table } = values;
  if (source !== undefined && destination !== undefined && familyOf(source) !== familyOf(destination)) {
    return fieldError(
      'dst-address',
      `value of dst-address: ${destination} is not of the family of src-address ${source}; give networks of one family`,
    );
  }
  const action = values.action ?? menu.props.action?.default;
  if (looksUp(action) && table === undefined) {
    return fieldError('table', `table is required for action ${action}: ${menu.props.table?.kind.accepts}`);
  }
  const longest = [source, destination].some((network) => network !== undefined && familyOf(network) === 'ip')
    ? 31
    : 127;
  return Number(values['min-prefix'] ?? '0') > longest
    ? fieldError('min-prefix', `value of min-prefix: all routes of IPv4 would be passed over; give 0..${longest}`)
    : undefined;
}

function compileNetwork(row: Row, property: string): Prefix | null {
  const text = effective(MENU, row, property);
  if (text === undefined) return null;
  const family = familyOf(text);
  const network = networkOf(text, family);
  if (network === undefined) throw new InvalidRow(`${property}: ${text} is no prefix`);
  return { address: addressText(network.first, family), 'prefix-len': network.length };
}

function compileAction(context: CompileContext, row: Row): RoutingAction {
  const action = requiredValue(MENU, row, 'action');
  if (action === 'drop' || action === 'unreachable') return { kind: action };
  const shortest = effective(MENU, row, 'min-prefix');
  return {
    kind: 'lookup',
    table: tableNumber(context, 'table', requiredValue(MENU, row, 'table')),
    only: action === 'lookup-only-in-table',
    'min-prefix': shortest === undefined ? null : Number(shortest),
  };
}

const compileRules = (context: CompileContext): RoutingRule[] =>
  context.translate(MENU, (row) => {
    const mark = effective(MENU, row, 'routing-mark');
    const through = effective(MENU, row, 'interface');
    return {
      row: row.id,
      source: compileNetwork(row, 'src-address'),
      destination: compileNetwork(row, 'dst-address'),
      'routing-mark': mark === undefined ? null : routingMark(context, 'routing-mark', mark),
      interface: through === undefined ? null : context.interfaces.row('interface', through),
      action: compileAction(context, row),
    };
  });

/** Rules that cannot work are inactive, and say why. */
const readRules: ReadLive =
  async () =>
  ({ invalid }) => ({
    values: {
      properties: ['inactive', 'hint'],
      value: (id, property) => {
        const reason = invalid.get(id);
        return property === 'hint' ? reason : String(reason !== undefined);
      },
    },
  });

export const routingRule: MenuModule = {
  path: MENU,
  check: checkRule,
  compile: (context) => ({ 'routing-rules': compileRules(context) }),
  liveRows: () => readRules,
  droppingActions: ['drop', 'unreachable'],
};
