import { type Menu, registry } from '@tollway/schema';
import { builtinNames } from '../snapshot/builtin.js';
import { interfaceNameTaken, isTreeQueue } from '../snapshot/interfaces.js';
import { nameOf } from '../snapshot/rows-by-key.js';
import { type FieldError, fieldError, type ProposedRow } from './proposed-row.js';

/**
 * Refuses names that another item has, and renames of built-in items. @param own id of the row; undefined for a new row
 */
export const checkName = (proposed: ProposedRow, own: number | undefined): FieldError | undefined =>
  checkKeyword(proposed) ??
  (proposed.menu.interfaceType === undefined ? checkItemName(proposed) : checkInterfaceName(proposed, own));

/** Words that properties take in place of names of items: by the menu of the items, with the property. */
const KEYWORDS: ReadonlyMap<string, ReadonlyMap<string, string>> = (() => {
  const found = new Map<string, Map<string, string>>();
  for (const { path, props } of registry) {
    for (const [name, { kind }] of Object.entries(props)) {
      for (const { menu, prop } of kind.ref ?? []) {
        if (prop !== 'name') continue;
        const words = found.get(menu) ?? new Map<string, string>();
        for (const word of kind.keywords ?? []) words.set(word, `${name} of ${path}`);
        found.set(menu, words);
      }
    }
  }
  return found;
})();

/** Refuses names that have a meaning of their own where the item is named. One that has such a name may keep it. */
function checkKeyword({ menu, values: { name }, before }: ProposedRow): FieldError | undefined {
  if (name === undefined || before?.name === name) return undefined;
  const by = KEYWORDS.get(menu.interfaceType === undefined ? menu.path : '/interface')?.get(name);
  if (by === undefined) return undefined;
  return fieldError('name', `value of name: ${name} has a meaning of its own as ${by}; give another name`);
}

/** Noun for an item of a menu, without an article. */
const nounOf = ({ noun, singular }: Menu): string => noun ?? singular.toLowerCase();

const taken = (noun: string, name: string): FieldError =>
  fieldError('name', `failure: already have ${noun} with such name: ${name} (value of name must be unique)`);

function checkItemName({ menu, values: { name }, before, others }: ProposedRow): FieldError | undefined {
  if (menu.key?.[0] !== 'name' || name === undefined) return undefined;
  const builtin = builtinNames(menu.path);
  const isNew = before?.name !== name;
  if (isNew && before?.name !== undefined && builtin.includes(before.name)) {
    return fieldError('name', `value of name: a builtin ${nounOf(menu)} keeps its name, ${before.name}`);
  }
  return (isNew && builtin.includes(name)) || others.has(nameOf, name) ? taken(nounOf(menu), name) : undefined;
}

/**
 * Interfaces of all types share one name space. Queues of the tree share it, too, as both can be parents of such
 * queues.
 */
function checkInterfaceName(
  { values: { name }, given, snapshot }: ProposedRow,
  own: number | undefined,
): FieldError | undefined {
  if (name === undefined) return undefined;
  if (interfaceNameTaken(snapshot, name, own)) return taken('interface', name);
  if (!given.has('name') || !isTreeQueue(snapshot, name)) return undefined;
  return fieldError(
    'name',
    `value of name: ${name} is a queue tree, and as a parent would mean both; give another name`,
  );
}
