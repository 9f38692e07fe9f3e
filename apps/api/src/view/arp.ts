import { ipv4Text, type Menu } from '@tollway/schema';
import type { NeighborInfo } from '../agent/messages.js';
import { ETHERNET } from '../config/ports.js';
import type { ConfigStore } from '../config/store.js';
import type { LiveState } from '../state/live-state.js';
import { ArrayRows, type RestRow, type View, yesNo } from './rows.js';
import { storedRow } from './stored.js';

type LearnedEntry = Pick<NeighborInfo, 'interface' | 'address'>;

const ID = /^\*8([0-9A-F]{8})([0-9A-F]{8})$/i;

const hex = (value: number): string => value.toString(16).toUpperCase().padStart(8, '0');

/** `.id` of a learned entry: `*8`, its interface's row and its address, so that it is no other's after a restart. */
export const learnedId = ({ interface: row, address }: LearnedEntry): string =>
  `*8${hex(row)}${hex(address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0))}`;

/** The learned entry that an id names, whether it is there or not; undefined for any other text. */
export function learnedEntry(id: string): LearnedEntry | undefined {
  const [, row, address] = ID.exec(id) ?? [];
  if (row === undefined || address === undefined) return undefined;
  return { interface: Number.parseInt(row, 16), address: ipv4Text(Number.parseInt(address, 16)) };
}

/** Static ARP entries, then the learned ones. */
export function arpView(menu: Menu, store: ConfigStore, live: LiveState): View {
  return async (maxAgeMs) => {
    const known = await live.neighbors(maxAgeMs);
    const neighbors = known ?? [];
    const byRow = new Map(neighbors.filter((entry) => entry.row !== 0).map((entry) => [entry.row, entry]));
    const stored = (store.snapshot.get(menu.path) ?? []).map((row): RestRow => {
      const rest = storedRow(menu, row, store.invalid.get(row.id));
      const info = byRow.get(row.id);
      return {
        ...rest,
        ...(known !== undefined && { complete: yesNo(info !== undefined) }),
        ...(info !== undefined && { status: info.status }),
      };
    });
    const names = new Map((store.snapshot.get(ETHERNET) ?? []).map((row) => [row.id, row.values.name]));
    const learned = neighbors.filter((entry) => entry.row === 0);
    const rows = [
      ...stored,
      ...learned.map((entry): RestRow => {
        const mac = entry['mac-address'];
        return {
          '.id': learnedId(entry),
          address: entry.address,
          ...(mac && { 'mac-address': mac.toUpperCase() }),
          interface: names.get(entry.interface) ?? 'unknown',
          published: 'false',
          status: entry.status,
          disabled: 'false',
          invalid: 'false',
          dynamic: 'true',
          complete: yesNo(Boolean(mac)),
        };
      }),
    ];
    return new ArrayRows(rows, known === undefined);
  };
}
