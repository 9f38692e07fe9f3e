import { FIRST_DYNAMIC_ROW } from '@tollway/dataplane-agent/records';
import type { Menu } from '@tollway/schema';
import type { Stats } from '../agent/messages.js';
import type { ConfigStore } from '../config/store.js';
import { type Row, rowIdText } from '../snapshot/snapshot.js';
import type { LiveState } from '../state/live-state.js';
import { type RestRow, type View, yesNo } from './rows.js';
import { type LiveValues, StoredParts, StoredRows } from './stored-rows.js';

/** Rules that the data plane made, above those of the configuration. */
type RulesAbove = (stats: Stats, rows: readonly Row[]) => RestRow[];

/** Rules with their counters, in order of evaluation. */
export function rulesView(menu: Menu, store: ConfigStore, live: LiveState, above?: RulesAbove): View {
  const parts = new StoredParts(menu);
  return async (maxAgeMs) => {
    const stats = await live.stats(maxAgeMs);
    const { snapshot, invalid } = store;
    const rows = snapshot.get(menu.path) ?? [];
    const made = stats !== undefined ? above?.(stats, rows) : [];
    return new StoredRows(rows, (row) => parts.of(row, invalid.get(row.id)), stats && countersOf(stats), made);
  };
}

function countersOf({ rules }: Stats): LiveValues {
  const counts = new Map(rules.map((rule) => [rule.row, rule]));
  return {
    properties: ['bytes', 'packets'],
    value: (id, property) => String(counts.get(id)?.[property === 'bytes' ? 'bytes' : 'packets'] ?? 0),
  };
}

/** `.id` of the dummy rule; in this menu the data plane makes no other. */
const DUMMY_ID = rowIdText(FIRST_DYNAMIC_ROW);

/**
 * The rule that RouterOS shows above all others from the first fasttracked connection on: as long as there is one, or
 * a rule that makes them.
 */
export function fasttrackCounters({ tracking, 'fast-path': counted }: Stats, rows: readonly Row[]): RestRow[] {
  const made = () => rows.some(({ values, disabled }) => values.action === 'fasttrack-connection' && !disabled);
  if (tracking['fasttracked-entries'] === 0 && !(counted['fasttrack-packets'] > 0 && made())) return [];
  return [
    {
      '.id': DUMMY_ID,
      chain: 'forward',
      action: 'passthrough',
      log: 'false',
      bytes: String(counted['fasttrack-bytes']),
      packets: String(counted['fasttrack-packets']),
      disabled: yesNo(false),
      comment: 'special dummy rule to show fasttrack counters',
      invalid: yesNo(false),
      dynamic: yesNo(true),
    },
  ];
}
