import type { Menu } from '@tollway/schema';
import type { ConfigStore } from '../config/store.js';
import type { LiveState } from '../state/live-state.js';
import { ArrayRows, type View } from './rows.js';
import { storedRow } from './stored.js';

/** Rules with their counters, in order of evaluation. */
export function rulesView(menu: Menu, store: ConfigStore, live: LiveState): View {
  return async (maxAgeMs) => {
    const stats = await live.stats(maxAgeMs);
    const counts = new Map(stats?.rules.map((rule) => [rule.row, rule]));
    return new ArrayRows(
      (store.snapshot.get(menu.path) ?? []).map((row) => {
        const count = counts.get(row.id);
        const rest = storedRow(menu, row, store.invalid.get(row.id));
        if (stats !== undefined) {
          rest.bytes = String(count?.bytes ?? 0);
          rest.packets = String(count?.packets ?? 0);
        }
        return rest;
      }),
    );
  };
}
