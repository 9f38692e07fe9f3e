import { LIST_ACTIONS } from '@tollway/schema';
import { type FieldError, fieldError, type ProposedRow } from '../proposed-row.js';

/** Differences between the checks of the firewall tables. */
interface TableChecks {
  /** Hooks of other tables: a user-defined chain with such a name would never be reached. */
  readonly otherHooks: readonly string[];
  /** Additional check of the rules of this table. */
  readonly check?: (proposed: ProposedRow) => FieldError | undefined;
}

/** The check of the rules of a table. */
export const checkRulesOf =
  ({ otherHooks, check }: TableChecks) =>
  (proposed: ProposedRow): FieldError | undefined =>
    checkChain(proposed, otherHooks) ??
    checkInterfaces(proposed) ??
    checkTransport(proposed) ??
    checkAction(proposed) ??
    check?.(proposed);

function checkChain({ menu, values }: ProposedRow, otherHooks: readonly string[]): FieldError | undefined {
  const { chain } = values;
  if (chain === undefined || !otherHooks.includes(chain)) return undefined;
  const hooks = menu.props.chain?.kind.values?.join(', ');
  return fieldError(
    'chain',
    `value of chain: ${chain} is not a chain of this table; give ${hooks} or a name of your own`,
  );
}

/** Built-in chains where the packet has no incoming or no outgoing interface yet. */
const WITHOUT: Readonly<Record<string, { readonly prefix: string; readonly word: string; readonly instead: string }>> =
  {
    output: { prefix: 'in-interface', word: 'incoming', instead: 'out-interface' },
    prerouting: { prefix: 'out-interface', word: 'outgoing', instead: 'in-interface' },
    input: { prefix: 'out-interface', word: 'outgoing', instead: 'in-interface' },
    dstnat: { prefix: 'out-interface', word: 'outgoing', instead: 'in-interface' },
  };

function checkInterfaces({ values }: ProposedRow): FieldError | undefined {
  const without = WITHOUT[values.chain ?? ''];
  if (!without) return undefined;
  const property = [without.prefix, `${without.prefix}-list`].find((name) => values[name] !== undefined);
  if (property === undefined) return undefined;
  return fieldError(
    property,
    `value of ${property}: ${without.word} interface matching is not possible in chain ${values.chain}; use ${without.instead} or another chain`,
  );
}

const PORTS = ['src-port', 'dst-port', 'port'] as const;

function checkTransport({ menu, values }: ProposedRow): FieldError | undefined {
  const { protocol } = values;
  const property = PORTS.find((name) => values[name] !== undefined);
  if (property && protocol !== 'tcp' && protocol !== 'udp') return portsNeedProtocol(property);
  if (values['tcp-flags'] !== undefined && protocol !== 'tcp') {
    return fieldError('tcp-flags', 'value of tcp-flags: TCP flags can be specified only if protocol is tcp');
  }
  const icmp = menu.path.startsWith('/ipv6/') ? 'icmpv6' : 'icmp';
  if (values['icmp-options'] !== undefined && protocol !== icmp) {
    return fieldError('icmp-options', `value of icmp-options: they can be specified only if protocol is ${icmp}`);
  }
  return undefined;
}

/** The error for ports with a protocol that has none. */
export const portsNeedProtocol = (property: string): FieldError =>
  fieldError(property, `value of ${property}: ports can be specified only if protocol is tcp or udp`);

function checkAction({ values, menu }: ProposedRow): FieldError | undefined {
  if (LIST_ACTIONS.some((action) => action === values.action) && values['address-list'] === undefined) {
    return fieldError(
      'address-list',
      `address-list is required when action is ${values.action}: ${menu.props['address-list']?.kind.accepts}`,
    );
  }
  if (values.action !== 'jump' || values['jump-target'] !== undefined) return undefined;
  return fieldError(
    'jump-target',
    `jump-target is required when action is jump: ${menu.props['jump-target']?.kind.accepts}`,
  );
}
