import type { PortInfo } from '../agent/messages.js';
import type { Draft } from './draft.js';

const ETHERNET = '/interface/ethernet';

/** Gives each port that has no row one, named as the factory did, and the name freed if it is taken. */
export function adoptPorts(draft: Draft, ports: readonly PortInfo[]): string[] {
  const known = new Set(draft.rows(ETHERNET).map((row) => row.values['default-name']));
  const found = ports.filter((port) => !known.has(port.name));
  for (const port of found) {
    const names = new Set(draft.rows(ETHERNET).map((row) => row.values.name));
    let name = port.name;
    for (let n = 1; names.has(name); n += 1) name = `${port.name}-${n}`;
    draft.add(ETHERNET, { values: { 'default-name': port.name, name }, disabled: false, comment: '' });
  }
  return found.map((port) => port.name);
}
