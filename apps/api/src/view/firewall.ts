import type { Stats } from '../agent/messages.js';
import type { Row } from '../snapshot/snapshot.js';
import type { LiveState } from '../state/live-state.js';
import type { ReadLive } from './live-rows.js';
import type { RestRow } from './rows.js';
import type { LiveValues } from './stored-rows.js';

/** Dynamic rules above the rules of the configuration. */
type RulesAbove = (stats: Stats, rows: readonly Row[]) => RestRow[];

/** Counters of rules. */
export const countedRules =
  (live: LiveState, above?: RulesAbove): ReadLive =>
  async (maxAgeMs) => {
    const stats = await live.stats(maxAgeMs);
    return ({ rows }) => ({ values: stats && countersOf(stats), above: stats && above?.(stats, rows) });
  };

function countersOf({ rules }: Stats): LiveValues {
  const counts = new Map(rules.map((rule) => [rule.row, rule]));
  return {
    properties: ['bytes', 'packets'],
    value: (id, property) => String(counts.get(id)?.[property === 'bytes' ? 'bytes' : 'packets'] ?? 0),
  };
}
