import type { Kind, Referent } from '../kind.js';
import { missingElement, namesInList, renameInList, renameOne } from './comma-list.js';
import { hasControl, quoted } from './quoted.js';

export interface ReferenceOptions {
  /** Words accepted beside names. */
  readonly keywords?: readonly string[];
}

/** Nouns for items of menus that others refer to: singular and plural. */
const NOUNS: Readonly<Record<string, readonly [one: string, several: string]>> = {
  '/interface': ['an interface', 'interfaces'],
  '/ip/vrf': ['a VRF', 'VRFs'],
  '/interface/list': ['an interface list', 'interface lists'],
  '/routing/table': ['a routing table', 'routing tables'],
  '/queue/simple': ['a simple queue', 'simple queues'],
  '/queue/tree': ['a queue of the tree', 'queues of the tree'],
  '/queue/type': ['a queue type', 'queue types'],
  '/system/logging/action': ['a log action', 'log actions'],
};

const nounsOf = (menu: string): readonly [one: string, several: string] => {
  const nouns = Object.hasOwn(NOUNS, menu) ? NOUNS[menu] : undefined;
  if (nouns === undefined) throw new Error(`items of ${menu} have no noun`);
  return nouns;
};

/** Name of an item of another menu. Whether the item exists is checked by the API, which knows the rows. */
export const reference = (menu: string, prop: string, options: ReferenceOptions = {}): Kind =>
  referenceToOneOf([{ menu, prop }], options);

/** Kind of values that {@link reference} an item of one of several menus. */
export function referenceToOneOf(ref: readonly Referent[], { keywords = [] }: ReferenceOptions = {}): Kind {
  const items = ref.map(({ menu, prop }) => `the ${prop} of ${nounsOf(menu)[0]}`);
  const accepts = [...items, ...keywords].join(', or ');
  return {
    name: 'ref',
    accepts,
    parse: (text) =>
      text === '' || text.startsWith('!') || hasControl(text)
        ? { ok: false, error: `${quoted(text)} is not ${accepts}` }
        : { ok: true, value: text },
    keywords,
    ref,
    references: (value) => [value],
    rename: renameOne,
    jsonSchema: { type: 'string' },
  };
}

/** Comma list of names of items of another menu, each once; the empty text is the empty list. */
export function referenceList(menu: string, prop: string): Kind {
  const accepts = `${prop}s of ${nounsOf(menu)[1]}, separated by commas`;
  return {
    name: 'ref-list',
    accepts,
    parse(text) {
      const names = text.split(',').map((word) => word.trim());
      if (text.trim() === '') return { ok: true, value: '' };
      const missing = missingElement(text, `a ${prop}`);
      if (missing !== undefined) return { ok: false, error: `${missing}; give ${accepts}` };
      if (names.some((name) => name.startsWith('!') || hasControl(name))) {
        return { ok: false, error: `${quoted(text)} is not ${accepts}` };
      }
      return { ok: true, value: [...new Set(names)].join(',') };
    },
    ref: [{ menu, prop }],
    references: namesInList,
    rename: renameInList,
    editor: 'list',
    jsonSchema: { type: 'string' },
  };
}
