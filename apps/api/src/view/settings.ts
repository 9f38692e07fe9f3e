import type { Menu } from '@tollway/schema';
import type { Stats } from '../agent/messages.js';
import type { ConfigStore } from '../config/store.js';
import type { LiveState } from '../state/live-state.js';
import { ArrayRows, type RestRow, type View, yesNo } from './rows.js';
import { settingsRow } from './stored.js';

/** Figures of the data plane that a settings menu shows. */
type Figures = (stats: Stats) => RestRow;

/** A settings menu, with figures of the data plane where it has some. */
export function settingsView(menu: Menu, store: ConfigStore, live: LiveState, figures?: Figures): View {
  return async (maxAgeMs) => {
    const row = settingsRow(menu, store.snapshot.get(menu.path)?.[0]);
    const stats = figures === undefined ? undefined : await live.stats(maxAgeMs);
    return new ArrayRows([{ ...row, ...(stats !== undefined && figures?.(stats)) }]);
  };
}

/** Ways past the slow path that IP settings tell of: first part of the properties, name of the handler. */
const HANDLERS = [
  ['ipv4-fast-path', 'ipv4-fast-path'],
  ['ipv4-flow-cache', 'flow-cache'],
  ['ipv4-fasttrack', 'ipv4-fasttrack'],
] as const;

/** Figures of `/ip/settings`: the same as in the list of handlers, under RouterOS's names. */
export const ipFigures: Figures = ({ 'fast-path': { handlers } }) =>
  Object.fromEntries(
    HANDLERS.flatMap(([prefix, handler]) => {
      const found = handlers.find(({ name }) => name === handler);
      return found === undefined
        ? []
        : [
            [`${prefix}-active`, yesNo(found.active)],
            [`${prefix}-packets`, String(found.packets)],
            [`${prefix}-bytes`, String(found.bytes)],
          ];
    }),
  );

/** Figures of `/ip/firewall/connection/tracking`. */
export const trackingFigures: Figures = ({ tracking: t }) => ({
  'active-ipv4': yesNo(t.active),
  'max-entries': String(t['max-entries']),
  'worker-max-entries': String(t['worker-max-entries']),
  'worker-entries': String(t['worker-entries']),
  'total-entries': String(t['ip4-entries'] + t['ip6-entries']),
  'total-ip4-entries': String(t['ip4-entries']),
});
