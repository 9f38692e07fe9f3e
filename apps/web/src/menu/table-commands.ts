/**
 * The commands of a table: toolbar, context menu and keys offer the same commands, and the same reasons when one is
 * disabled.
 */
import type { Menu } from '@tollway/schema';
import { isTree } from '@tollway/schema';
import type { Row } from '../api/row.ts';
import type { IconName } from '../ui/icons.tsx';
import type { Command } from '../ui/PopupMenu.tsx';
import { actsOnAll, commandLabel, rowsBlockedReason, specialCommands } from './actions.ts';
import { isSet } from './cells/text.ts';
import { offersCommentLines } from './columns.ts';

export interface TableCommand extends Command {
  readonly name: string;
  readonly icon?: IconName;
}

/** State that decides whether a command can run. */
export interface TableState {
  readonly menu: Menu;
  /** Selected rows that are loaded, in order. */
  readonly rows: readonly Row[];
  /** Number of all selected rows. */
  readonly count: number;
  /** True when the rows are shown in the order of the list itself. */
  readonly ordered: boolean;
  /** True when the menu is shown as a tree. */
  readonly tree?: boolean;
  /** True when comments have a column instead of separate lines. */
  readonly inlineComments?: boolean;
  /** True when a filter or Find hides rows. */
  readonly filtered?: boolean;
}

interface Known {
  readonly label: string;
  readonly icon?: IconName;
  readonly shortcut?: string;
}

const KNOWN = {
  open: { label: 'Open', shortcut: 'Enter' },
  add: { label: 'Add', icon: 'add', shortcut: 'Insert' },
  copy: { label: 'Copy item' },
  remove: { label: 'Remove', icon: 'remove', shortcut: 'Delete' },
  enable: { label: 'Enable', icon: 'enable', shortcut: 'Ctrl+E' },
  disable: { label: 'Disable', icon: 'disable', shortcut: 'Ctrl+D' },
  comment: { label: 'Comment', icon: 'comment', shortcut: 'Ctrl+M' },
  'insert-above': { label: 'Insert above' },
  'insert-below': { label: 'Insert below' },
  'move-up': { label: 'Move up', icon: 'up', shortcut: 'Alt+↑' },
  'move-down': { label: 'Move down', icon: 'down', shortcut: 'Alt+↓' },
  parent: { label: 'Set parent' },
  indent: { label: 'Below the row above', shortcut: 'Alt+→' },
  outdent: { label: 'Out of its parent', shortcut: 'Alt+←' },
  tree: { label: 'Tree' },
  'unfold-all': { label: 'Unfold all' },
  'fold-all': { label: 'Fold all' },
  'copy-text': { label: 'Copy as text', shortcut: 'Ctrl+C' },
  'select-all': { label: 'Select all', shortcut: 'Ctrl+A' },
  'select-none': { label: 'Select none', shortcut: 'Esc' },
  find: { label: 'Find', shortcut: 'Ctrl+F' },
  'find-next': { label: 'Find next', shortcut: 'F3' },
  columns: { label: 'Show columns' },
  'inline-comments': { label: 'Inline comments' },
} as const satisfies Readonly<Record<string, Known>>;

/** Names of the commands that every table may have; each menu may add others. */
export type CommandName = keyof typeof KNOWN | (string & {});

/** True when the menu has what a command needs. */
export function hasCommand(menu: Menu, name: CommandName): boolean {
  const { commands } = menu;
  switch (name) {
    case 'open':
    case 'copy-text':
    case 'select-all':
    case 'select-none':
    case 'find':
    case 'find-next':
    case 'columns':
      return true;
    case 'inline-comments':
      return offersCommentLines(menu);
    case 'parent':
    case 'indent':
    case 'outdent':
      return isTree(menu) && commands.has('set');
    case 'tree':
    case 'unfold-all':
    case 'fold-all':
      return isTree(menu);
    case 'copy':
      return commands.has('add');
    case 'insert-above':
    case 'insert-below':
      return commands.has('add') && commands.has('move');
    case 'move-up':
    case 'move-down':
      return commands.has('move');
    default:
      return commands.has(name);
  }
}

/** Reason why a command is disabled now; undefined when it is enabled. */
export function disabledReason(state: TableState, name: CommandName): string | undefined {
  const why = blockedReason(state, name);
  if (why !== undefined || (name !== 'enable' && name !== 'disable')) return why;
  const { rows, count } = state;
  const done = rows.length === count && rows.every((row) => isSet(row, 'disabled') === (name === 'disable'));
  return done ? `already ${name}d` : undefined;
}

/** Reason why a command cannot run now; undefined when it can, even if it would change nothing. */
export function blockedReason(state: TableState, name: CommandName): string | undefined {
  const { menu, rows, count, ordered } = state;
  switch (name) {
    case 'add':
    case 'select-all':
    case 'find':
    case 'find-next':
    case 'columns':
    case 'inline-comments':
    case 'tree':
      return undefined;
    case 'unfold-all':
    case 'fold-all':
      if (state.filtered === true) return 'nothing is folded while there is a filter or something to find';
      return state.tree === true ? undefined : 'show the tree first';
    case 'indent':
    case 'outdent':
      return rowsBlockedReason(menu, 'set', rows, count) ?? (state.tree === true ? undefined : 'show the tree first');
    case 'parent':
      return rowsBlockedReason(menu, 'set', rows, count);
    case 'open':
    case 'copy':
      return count === 1 ? undefined : 'select one row';
    case 'copy-text':
    case 'select-none':
      return count > 0 ? undefined : 'select a row first';
    case 'insert-above':
    case 'insert-below':
      if (count !== 1) return 'select one row';
      if (!ordered) return 'sort by # first';
      return name === 'insert-above' && rows.some((row) => isSet(row, 'dynamic'))
        ? 'rows that the system made stay on top'
        : undefined;
    case 'move-up':
    case 'move-down':
      if (rows.length < count) return 'some of the selected rows are out of sight';
      return rowsBlockedReason(menu, 'move', rows, count) ?? (ordered ? undefined : 'sort by # first');
    default:
      return actsOnAll(menu, name) ? undefined : rowsBlockedReason(menu, name, rows, count);
  }
}

function command(state: TableState, name: CommandName, run: (name: CommandName) => void): TableCommand {
  const known: Known = Object.entries(KNOWN).find(([each]) => each === name)?.[1] ?? { label: commandLabel(name) };
  const checked = name === 'inline-comments' ? { checked: state.inlineComments === true } : {};
  return { name, ...known, ...checked, disabledReason: disabledReason(state, name), run: () => run(name) };
}

const BAR: readonly CommandName[] = ['add', 'remove', 'enable', 'disable', 'comment'];
const MOVES: readonly CommandName[] = ['move-up', 'move-down'];

/** The toolbar in three parts: commands of every list, moves, and commands of this menu only. */
export function toolbarCommands(state: TableState, run: (name: CommandName) => void) {
  const of = (names: readonly CommandName[]) =>
    names.filter((name) => hasCommand(state.menu, name)).map((name) => command(state, name, run));
  return { standard: of(BAR), moves: of(MOVES), special: of(specialCommands(state.menu)) };
}

const GROUPS: readonly (readonly CommandName[])[] = [
  ['open', 'add', 'copy'],
  ['remove', 'enable', 'disable', 'comment'],
  ['insert-above', 'insert-below', 'move-up', 'move-down'],
  ['parent', 'indent', 'outdent', 'unfold-all', 'fold-all'],
];
const LAST: readonly (readonly CommandName[])[] = [
  ['copy-text', 'select-all', 'select-none'],
  ['find', 'find-next', 'columns', 'inline-comments'],
];

/** Entries of the context menu of rows; `line` separates groups. */
export function rowMenu(state: TableState, run: (name: CommandName) => void): readonly (TableCommand | 'line')[] {
  return [...GROUPS, specialCommands(state.menu), ...LAST]
    .map((group) => group.filter((name) => hasCommand(state.menu, name)))
    .filter((group) => group.length > 0)
    .flatMap((group, at): (TableCommand | 'line')[] => [
      ...(at === 0 ? [] : ['line' as const]),
      ...group.map((name) => command(state, name, run)),
    ]);
}

/** Commands for one column, and for all of them. */
interface ColumnCommands {
  /** Name and title of the column; undefined for the column of flags, which belongs to no property. */
  readonly column: { readonly name: string; readonly label: string; readonly source: unknown };
  readonly sort: { readonly by: string; readonly desc: boolean } | null;
  /** False if it is the only column left. */
  readonly hides: boolean;
  readonly onSort: (sort: ColumnCommands['sort']) => void;
  readonly onHide: () => void;
  readonly onFit: () => void;
}

/** Entries of the context menu of a column title. */
export function columnMenu(
  state: TableState,
  run: (name: CommandName) => void,
  { column, sort, hides, onSort, onHide, onFit }: ColumnCommands,
): readonly (Command | 'line')[] {
  const { name, label } = column;
  const [by, desc] = [sort?.by, sort?.desc === true];
  const all: readonly CommandName[] = ['columns', 'inline-comments'];
  const own: (Command | 'line')[] =
    column.source === undefined
      ? []
      : [
          { label: 'Sort ascending', checked: by === name && !desc, run: () => onSort({ by: name, desc: false }) },
          { label: 'Sort descending', checked: by === name && desc, run: () => onSort({ by: name, desc: true }) },
          {
            label: state.menu.kind === 'ordered' ? 'Sort by #' : 'Do not sort',
            checked: sort === null,
            run: () => onSort(null),
          },
          'line',
          { label: 'Fit width', run: onFit },
          {
            label: `Hide ${label}`,
            disabledReason: hides ? undefined : 'a table has one column at least',
            run: onHide,
          },
          'line',
        ];
  return [...own, ...all.filter((each) => hasCommand(state.menu, each)).map((each) => command(state, each, run))];
}
