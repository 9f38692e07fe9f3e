/** Entries of the palette, and the search for typed words. Pure. */
import type { MenuOutline } from '@tollway/schema';
import { newTitle } from '../menu/new-title.ts';
import { menuOutlineAt } from '../windows/menu-outlines.ts';
import { newItemShortcuts } from '../windows/new-item-shortcuts.ts';
import { addsTo, windowDefinitions } from '../windows/window-definitions.ts';
import { formatAddress } from './location.ts';

export interface Entry {
  readonly label: string;
  /** Text after the label in small letters: its place, or its effect. */
  readonly hint: string;
  /** Additional search terms. */
  readonly words: string;
  readonly shortcut?: string;
  readonly run: () => void;
}

/** Entries for new items that are needed often. */
export function shortcutEntries(
  open: (address: string) => void,
  mayAdd: (menu: MenuOutline) => boolean,
): readonly Entry[] {
  return newItemShortcuts.flatMap(({ label, words, menu: path, values }): readonly Entry[] => {
    const menu = menuOutlineAt(path);
    if (menu === undefined || !mayAdd(menu)) return [];
    const run = () => open(formatAddress(path, { kind: 'new', copy: undefined, values }));
    return [{ label, hint: 'add', words: `${words} ${menu.tree.join(' ')}`, run }];
  });
}

/**
 * Entries for all menus, and for new items of menus that can have them.
 * @param mayAdd whether the user may add items to a menu
 */
export function menuEntries(open: (address: string) => void, mayAdd: (menu: MenuOutline) => boolean): readonly Entry[] {
  return windowDefinitions.flatMap((definition) =>
    definition.tabs.flatMap((tab): readonly Entry[] => {
      const menu = menuOutlineAt(tab.address);
      const into = addsTo(tab.address);
      if (into !== undefined && !mayAdd(into)) return [];
      const alone = definition.tabs.length === 1;
      const place = menu?.tree ?? definition.tree ?? [definition.title];
      const entry: Entry = {
        label: alone || menu?.title === definition.title ? definition.title : `${definition.title}: ${tab.label}`,
        hint: place.join(' ▸ '),
        words: `${place.join(' ')} ${menu?.singular ?? ''} ${tab.address.replaceAll('/', ' ')}`,
        run: () => open(tab.address),
      };
      if (menu === undefined || !mayAdd(menu)) return [entry];
      return [
        entry,
        {
          label: newTitle(menu),
          hint: 'add',
          words: `add ${place.join(' ')}`,
          run: () => open(formatAddress(menu.path, { kind: 'new', copy: undefined })),
        },
      ];
    }),
  );
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().split(/[^\p{L}\p{N}]+/u);
}

/**
 * Rank of a match: 5: a whole word of the label; 4: another whole word; 3: the start of the label; 2: the start of a
 * word of the label; 1: any other position; 0: no match.
 */
function matchRank({ label, hint, words }: Entry, word: string): number {
  const rest = `${hint} ${words}`;
  const inLabel = wordsOf(label);
  if (inLabel.includes(word)) return 5;
  if (wordsOf(rest).includes(word)) return 4;
  if (label.toLowerCase().startsWith(word)) return 3;
  if (inLabel.some((each) => each.startsWith(word))) return 2;
  return `${label} ${rest}`.toLowerCase().includes(word) ? 1 : 0;
}

/** The entries that match all words, the best first; among equal ones, the one whose label was typed completely. */
export function matchingEntries(entries: readonly Entry[], typed: string): readonly Entry[] {
  const words = wordsOf(typed).filter((word) => word !== '');
  return entries
    .map((entry, at) => ({ entry, at, ranks: words.map((word) => matchRank(entry, word)) }))
    .filter(({ ranks }) => ranks.every((each) => each > 0))
    .map(({ entry, at, ranks }) => ({
      entry,
      at,
      sum: ranks.reduce((total, each) => total + each, 0),
      whole: Number(wordsOf(entry.label).join(' ') === words.join(' ')),
    }))
    .sort((a, b) => b.sum - a.sum || b.whole - a.whole || a.at - b.at)
    .map(({ entry }) => entry);
}
