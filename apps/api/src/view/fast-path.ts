import { FIRST_DYNAMIC_ROW } from '@tollway/dataplane-agent/records';
import type { AddressFamily } from '@tollway/schema';
import type { Stats } from '../agent/messages.js';
import { type Row, rowIdText } from '../snapshot/snapshot.js';
import { type RestRow, yesNo } from './rows.js';
import type { Figures } from './settings.js';

/** Ways past the slow path that the settings of a family show. */
const WAYS = ['fast-path', 'flow-cache', 'fasttrack'] as const;

/** Name of a way, as its handler and its properties have it. */
const nameOf = (family: AddressFamily, way: (typeof WAYS)[number]) => `${family === 'ip' ? 'ipv4' : 'ipv6'}-${way}`;

const handlerOf = ({ 'fast-path': { handlers } }: Stats, name: string) =>
  handlers.find((handler) => handler.name === name);

/** Values of the data plane in the settings of a family: those of the list of handlers, under RouterOS's names. */
export const fastPathFigures =
  (family: AddressFamily): Figures =>
  (stats) =>
    Object.fromEntries(
      WAYS.flatMap((way) => {
        const name = nameOf(family, way);
        const found = handlerOf(stats, name);
        return found === undefined
          ? []
          : [
              [`${name}-active`, yesNo(found.active)],
              [`${name}-packets`, String(found.packets)],
              [`${name}-bytes`, String(found.bytes)],
            ];
      }),
    );

/** `.id` of the dummy rule; in the menu of a filter it is the only dynamic row. */
const DUMMY_ID = rowIdText(FIRST_DYNAMIC_ROW);

/**
 * The rule that RouterOS shows above all others of a filter once a connection of its family is fasttracked: it remains
 * while there is such a connection, or a rule with the action `fasttrack-connection`.
 */
export const fasttrackCounters =
  (family: AddressFamily) =>
  (stats: Stats, rows: readonly Row[]): RestRow[] => {
    const ipv6 = stats.tracking['ip6-fasttracked-entries'];
    const entries = family === 'ipv6' ? ipv6 : stats.tracking['fasttracked-entries'] - ipv6;
    const { packets = 0, bytes = 0 } = handlerOf(stats, nameOf(family, 'fasttrack')) ?? {};
    const made = () => rows.some(({ values, disabled }) => values.action === 'fasttrack-connection' && !disabled);
    if (entries === 0 && !(packets > 0 && made())) return [];
    return [
      {
        '.id': DUMMY_ID,
        chain: 'forward',
        action: 'passthrough',
        log: 'false',
        bytes: String(bytes),
        packets: String(packets),
        disabled: yesNo(false),
        comment: 'special dummy rule to show fasttrack counters',
        invalid: yesNo(false),
        dynamic: yesNo(true),
      },
    ];
  };
