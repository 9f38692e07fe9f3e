/** The log: newest at the bottom, kept in view until one scrolls up. */
import { MenuTable } from '../../menu/MenuTable.tsx';
import type { WindowProps } from '../bespoke.ts';

export function LogWindow(props: WindowProps) {
  return <MenuTable {...props} tail />;
}
