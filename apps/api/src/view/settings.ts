import type { Menu } from '@tollway/schema';
import type { Stats } from '../agent/messages.js';
import type { ConfigStore } from '../config/store.js';
import type { LiveState } from '../state/live-state.js';
import { ArrayRows, type RestRow, type View } from './rows.js';
import { settingsRow } from './stored.js';

/** Values of the data plane that a settings menu shows. */
export type Figures = (stats: Stats) => RestRow;

/** A settings menu, with values of the data plane if it shows some. */
export function settingsView(menu: Menu, store: ConfigStore, live: LiveState, figures?: Figures): View {
  return async (maxAgeMs) => {
    const row = settingsRow(menu, store.snapshot.get(menu.path)?.[0]);
    const stats = figures === undefined ? undefined : await live.stats(maxAgeMs);
    return new ArrayRows([{ ...row, ...(stats !== undefined && figures?.(stats)) }]);
  };
}
