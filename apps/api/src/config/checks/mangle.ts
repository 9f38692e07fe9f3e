import { type FieldError, fieldError, type ProposedRow } from '../proposed-row.js';

/** Property that an action of mangle writes. */
const WRITES: Readonly<Record<string, string>> = {
  'mark-packet': 'new-packet-mark',
  'mark-connection': 'new-connection-mark',
  'mark-routing': 'new-routing-mark',
  'change-dscp': 'new-dscp',
  'change-mss': 'new-mss',
};

/** Check of the actions of mangle rules. */
export function checkMangle({ menu, values }: ProposedRow): FieldError | undefined {
  const { action = 'accept', chain, protocol } = values;
  const property = Object.hasOwn(WRITES, action) ? WRITES[action] : undefined;
  if (property !== undefined && values[property] === undefined) {
    return fieldError(
      property,
      `${property} is required when action is ${action}: ${menu.props[property]?.kind.accepts}`,
    );
  }
  if (action === 'mark-routing' && ['input', 'forward', 'postrouting'].includes(chain ?? '')) {
    return fieldError(
      'action',
      `value of action: mark-routing works in chains prerouting and output only; here routing is already done`,
    );
  }
  if (action === 'change-mss' && protocol !== 'tcp') {
    return fieldError('action', 'value of action: change-mss can be used only if protocol is tcp');
  }
  return undefined;
}
