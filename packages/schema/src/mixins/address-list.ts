import type { Kind } from '../kind.js';
import type { Prop } from '../menu.js';
import { datetime } from '../props/datetime.js';
import { duration } from '../props/duration.js';
import { name } from '../props/text.js';
import { comment } from './comment.js';
import { disabled, dynamic } from './disabled.js';
import { readOnly } from './read-only.js';

/**
 * Properties of the address lists of a family.
 * @param path the menu, whose lists rules name
 * @param addresses kind of the addresses of an entry
 */
export function addressListProps(path: string, addresses: Kind): Readonly<Record<string, Prop>> {
  return {
    list: {
      kind: name({ ref: [{ menu: path, prop: 'list' }] }),
      label: 'Name',
      help: 'Name of the list that the address is in.',
      tab: 'General',
      required: true,
      quickFilter: { label: 'List', all: 'all lists', op: 'is' },
      dataplane: true,
    },
    address: {
      kind: addresses,
      label: 'Address',
      help: 'Address, prefix or range.',
      tab: 'General',
      required: true,
      dataplane: true,
    },
    timeout: {
      kind: duration({ minMs: 1_000 }),
      label: 'Timeout',
      help: 'Time left of an entry; one that is added with a timeout is not stored. Without one it stays.',
      tab: 'General',
      unset: true,
    },
    'creation-time': { ...readOnly(datetime, 'Creation Time', 'When the entry was added.'), stampedOnAdd: true },
    ...disabled(),
    ...comment(),
    ...dynamic('General'),
  };
}
