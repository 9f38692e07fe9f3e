import type { PortInfo } from '../agent/messages.js';
import { interfaceNameTaken, isTreeQueue } from '../snapshot/interfaces.js';
import type { Draft } from './draft.js';

const ETHERNET = '/interface/ethernet';

/**
 * Adds a row for each new port. It gets its default name, with a number if another interface or a tree queue has that
 * name.
 */
export function adoptPorts(draft: Draft, ports: readonly PortInfo[]): string[] {
  const known = new Set(draft.rows(ETHERNET).map((row) => row.values['default-name']));
  const isTaken = (name: string) => interfaceNameTaken(draft.snapshot(), name) || isTreeQueue(draft.snapshot(), name);
  const found = ports.filter((port) => !known.has(port.name));
  for (const port of found) {
    let name = port.name;
    for (let n = 1; isTaken(name); n += 1) name = `${port.name}-${n}`;
    draft.add(ETHERNET, { values: { 'default-name': port.name, name }, disabled: false, comment: '' });
  }
  return found.map((port) => port.name);
}
