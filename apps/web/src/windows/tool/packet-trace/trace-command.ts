/** The command "Trace this" in the menus of rows with a packet. */
import type { PacketArguments } from '@tollway/schema';
import type { Row } from '../../../api/row.ts';
import type { Command } from '../../../ui/PopupMenu.tsx';
import { requestTrace, TRACE } from './trace-request.ts';

/** @param argumentsOf returns the packet of a row; undefined for a row without one. */
export function traceCommand(
  rows: readonly Row[],
  argumentsOf: (row: Row) => PacketArguments | undefined,
  open: (address: string) => void,
): Command {
  const [row] = rows;
  const args = row === undefined || rows.length > 1 ? undefined : argumentsOf(row);
  return {
    label: 'Trace this',
    disabledReason: args === undefined ? 'select one row with a packet' : undefined,
    run: () => {
      if (args === undefined) return;
      requestTrace(args);
      open(TRACE);
    },
  };
}
