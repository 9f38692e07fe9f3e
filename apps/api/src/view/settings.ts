import type { Menu } from '@tollway/schema';
import type { Stats } from '../agent/messages.js';
import type { ConfigStore } from '../config/store.js';
import type { LiveState } from '../state/live-state.js';
import { ArrayRows, type RestRow, type View, yesNo } from './rows.js';
import { settingsRow } from './stored.js';

/** A settings menu, with figures of the data plane where it has some. */
export function settingsView(menu: Menu, store: ConfigStore, live: LiveState): View {
  const figures = figuresByMenu[menu.path];
  return async (maxAgeMs) => {
    const row = settingsRow(menu, store.snapshot.get(menu.path)?.[0]);
    const stats = figures === undefined ? undefined : await live.stats(maxAgeMs);
    return new ArrayRows([{ ...row, ...(stats !== undefined && figures?.(stats)) }]);
  };
}

const figuresByMenu: Readonly<Record<string, (stats: Stats) => RestRow>> = {
  '/ip/settings': ({ 'fast-path': f }) => ({
    'ipv4-fast-path-active': yesNo(f['fast-path-active']),
    'ipv4-fast-path-packets': String(f['fast-path-packets']),
    'ipv4-fast-path-bytes': String(f['fast-path-bytes']),
    'ipv4-fasttrack-active': yesNo(f['fasttrack-active']),
    'ipv4-fasttrack-packets': String(f['fasttrack-packets']),
    'ipv4-fasttrack-bytes': String(f['fasttrack-bytes']),
  }),
  '/ip/firewall/connection/tracking': ({ tracking: t }) => ({
    'active-ipv4': yesNo(t.active),
    'max-entries': String(t['max-entries']),
    'total-entries': String(t['ip4-entries'] + t['ip6-entries']),
    'total-ip4-entries': String(t['ip4-entries']),
  }),
};
