/** The window of a list: toolbar, table, footer. Everything in it follows from the menu's declaration. */
import type { Menu } from '@tollway/schema';
import { isTree } from '@tollway/schema';
import { type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { LiveMenu } from '../api/live-menu.ts';
import { useOptions } from '../api/references.ts';
import type { Row } from '../api/row.ts';
import { useEscape } from '../ui/escape.ts';
import { type Command, PopupMenu } from '../ui/PopupMenu.tsx';
import { useVisible } from '../ui/visibility.ts';
import { useAddedRows } from './added-rows.ts';
import { ColumnChooser } from './ColumnChooser.tsx';
import { RowsCommentDialog } from './CommentDialog.tsx';
import {
  type Column,
  type ColumnLayout,
  filledColumns,
  moveColumn,
  shownColumns,
  tableColumns,
  toggleColumn,
} from './columns.ts';
import { EmptyNote } from './EmptyNote.tsx';
import { FilterBar } from './FilterBar.tsx';
import { useEmptyColumns } from './filled-columns.ts';
import { Grid, type GridHandle } from './Grid.tsx';
import { ParentDialog } from './ParentDialog.tsx';
import type { ReparentedItems } from './parents.ts';
import { RemoveDialog } from './RemoveDialog.tsx';
import { rememberedLayout, rememberLayout } from './remembered-layout.ts';
import type { RemoveConfirmation } from './remove-confirmation.ts';
import { TableFooter } from './TableFooter.tsx';
import { TableToolbar } from './TableToolbar.tsx';
import { type CommandName, columnMenu, rowMenu, toolbarCommands } from './table-commands.ts';
import { commandFor, HELD, windowCommandFor } from './table-keys.ts';
import { FOLDED, UNFOLDED } from './tree.ts';
import { useSelection } from './use-selection.ts';
import { type NewItem, useTableActions } from './use-table-actions.ts';
import { useTableSubscription } from './use-table-subscription.ts';

interface MenuTableProps {
  readonly menu: Menu;
  /** Changes when row heights change. */
  readonly density: string;
  /** Keeps the end of the list in view while it is in view, as for a log. */
  readonly tail?: boolean;
  readonly onOpen: (id: string) => void;
  readonly onAdd: (start?: NewItem) => void;
  /** Additional buttons of this window, after the commands. */
  readonly toolbar?: ReactNode;
  /** Additional commands of this window for selected rows, at the top of their menu. */
  readonly rowCommands?: (rows: readonly Row[]) => readonly Command[];
  /** Content of the footer after the number of items. */
  readonly footer?: ReactNode;
  /** Called with the ids of the selected rows, and of the loaded rows. */
  readonly onSelection?: (selected: readonly string[], loaded: readonly string[], live: LiveMenu) => void;
}

const FIND_WAIT_MS = 150;

/** Menu or dialog over the table. */
type Overlay =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'parent'; readonly moved: ReparentedItems }
  /** `ids`: the rows that were selected when the dialog was opened. */
  | { readonly kind: 'comment'; readonly ids: readonly string[] }
  | { readonly kind: 'remove'; readonly confirmation: RemoveConfirmation }
  | { readonly kind: 'column'; readonly column: Column; readonly at: { readonly x: number; readonly y: number } }
  | { readonly kind: 'menu'; readonly at: { readonly x: number; readonly y: number } };

const NOTHING: Overlay = { kind: 'nothing' };

/** Additional commands of a window, above those of every table. */
const withOwn = (own: readonly Command[], all: readonly (Command | 'line')[]): readonly (Command | 'line')[] =>
  own.length === 0 ? all : [...own, 'line', ...all];

/** Whether an element handles the Insert key itself. */
const hasInsertKey = (target: EventTarget | null): boolean =>
  target instanceof Element && target.matches('[role="grid"], [role="treegrid"], input, select, textarea');

export function MenuTable(props: MenuTableProps) {
  const { menu, density, tail = false, onOpen, onAdd, onSelection } = props;
  const { live, quickFilter, wants, tree, change, fold } = useTableSubscription(menu);
  const asTree = tree !== undefined;
  const selected = useSelection(menu, live);
  const { selection, select } = selected;
  const [layout, setLayout] = useState<ColumnLayout>(() => rememberedLayout(menu));
  const [fitted, setFitted] = useState<Readonly<Record<string, number>>>({});
  const [grown, setGrown] = useState<Readonly<Record<string, number>>>({});
  const [find, setFind] = useState('');
  const [overlay, setOverlay] = useState<Overlay>(NOTHING);
  const [choosing, setChoosing] = useState(false);
  const [filtering, setFiltering] = useState(wants.conditions.length > 0);
  const findBox = useRef<HTMLInputElement>(null);
  const grid = useRef<GridHandle>(null);
  const root = useRef<HTMLDivElement>(null);
  const findTimer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const shown = useMemo(() => shownColumns(menu, layout), [menu, layout]);
  const nothingIn = useEmptyColumns(menu, live, shown);
  const by = wants.sort?.by ?? '';
  const measurements = useMemo(
    () => ({ empty: new Set([...nothingIn].filter((name) => name !== by)), fitted, grown }),
    [nothingIn, fitted, grown, by],
  );
  const columns = useMemo(() => tableColumns(menu, layout, asTree, measurements), [menu, layout, asTree, measurements]);
  const { options, load } = useOptions(quickFilter === undefined ? undefined : menu.props[quickFilter.name]?.kind);
  useEffect(load, [load]);
  useEffect(() => () => clearTimeout(findTimer.current), []);
  useEffect(() => {
    if (onSelection === undefined) return;
    const notify = () => onSelection([...selection.ids], live.shown, live);
    notify();
    return live.subscribe((what) => what.order && notify());
  }, [selection, live, onSelection]);

  const actions = useTableActions({
    menu,
    live,
    selected,
    tree: asTree,
    onOpen,
    onAdd,
    show,
    askParent: (moved) => setOverlay({ kind: 'parent', moved }),
    ask: (confirmation) => setOverlay({ kind: 'remove', confirmation }),
  });
  const state = { ...actions.state(), inlineComments: columns.some(({ name }) => name === 'comment') };
  const bar = toolbarCommands(state, actions.run);

  function relayout(next: ColumnLayout) {
    setLayout(next);
    rememberLayout(menu, next);
  }

  function show(name: CommandName) {
    if (name === 'columns') setChoosing(true);
    else if (name === 'inline-comments') relayout(toggleColumn(menu, layout, 'comment', measurements));
    else if (name === 'comment') setOverlay({ kind: 'comment', ids: selected.chosen() });
    else if (name === 'tree') {
      // The column that carries the tree needs a different width.
      const carrier = columns.find(({ source }) => source !== undefined)?.name ?? '';
      setFitted(({ [carrier]: _, ...rest }) => rest);
      setGrown(({ [carrier]: _, ...rest }) => rest);
      change({ tree: asTree ? null : UNFOLDED });
    } else if (name === 'unfold-all') fold(UNFOLDED);
    else if (name === 'fold-all') fold(FOLDED);
    else if (name === 'copy-text') grid.current?.copy();
    else if (name === 'find-next' && find !== '') grid.current?.next();
    else {
      findBox.current?.focus();
      findBox.current?.select();
    }
  }

  function sortBy(column: string) {
    const now = live.query.sort;
    if (column === '.nr') change({ sort: null });
    else if (now?.by !== column) change({ sort: { by: column, desc: false } });
    else change({ sort: now.desc ? null : { by: column, desc: true } });
  }

  function scheduleFind(text: string, waitMs: number) {
    setFind(text);
    clearTimeout(findTimer.current);
    // Blanks between words are significant; leading and trailing ones were typed before the next word, or pasted.
    const sought = text.trim();
    findTimer.current = setTimeout(
      () => live.query.find !== sought && live.changeQuery({ first: 0, find: sought }),
      waitMs,
    );
  }

  /** Moves the focus from a button of the table to its rows, so that keys apply to the selection. */
  function leaveButton(when: (button: HTMLButtonElement) => boolean = () => true) {
    const focused = document.activeElement;
    if (!(focused instanceof HTMLButtonElement) || !when(focused)) return;
    if (root.current?.contains(focused)) grid.current?.focus();
  }

  useAddedRows(menu, live, (index) => {
    // The dialog has returned the focus to the button that opened it.
    leaveButton();
    grid.current?.show(index);
  });
  // The same for dialogs about the rows; this effect runs after the dialog has closed.
  const asks = overlay.kind === 'comment' || overlay.kind === 'remove' || overlay.kind === 'parent';
  const asked = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs only when a dialog opens or closes
  useEffect(() => {
    if (asked.current && !asks) leaveButton();
    asked.current = asks;
  }, [asks]);
  // A disabled button receives no key events, and the browser would move the focus out of the window.
  useLayoutEffect(() => leaveButton(({ disabled }) => disabled));
  const visible = useVisible();
  useEscape(root, visible, () => selection.ids.size > 0 && actions.run('select-none'));
  const run = useRef(actions.run);
  run.current = actions.run;
  useEffect(() => {
    const table = root.current;
    // Handles the keys of the window, even while its title or its tabs have the focus.
    const owner = table?.closest<HTMLElement>('[data-window]') ?? table;
    if (owner === null || !visible) return;
    const press = (event: KeyboardEvent) => {
      const name = windowCommandFor(event);
      if (name === undefined || event.defaultPrevented || event.repeat) return;
      // The grid handles this key itself, and in a text field it belongs to the field.
      if (name === 'add' && hasInsertKey(event.target)) return;
      event.preventDefault();
      run.current(name);
    };
    owner.addEventListener('keydown', press);
    return () => owner.removeEventListener('keydown', press);
  }, [visible]);

  return (
    <div ref={root} role="group" className="menu-table" aria-label={menu.title}>
      <TableToolbar
        title={menu.title}
        commands={bar}
        find={find}
        findBox={findBox}
        filtering={filtering || wants.conditions.length > 0}
        tree={isTree(menu) ? asTree : undefined}
        onTree={() => actions.run('tree')}
        quickFilter={quickFilter}
        choice={wants.choice}
        choices={options}
        more={props.toolbar}
        onFind={(text) => scheduleFind(text, text === '' ? 0 : FIND_WAIT_MS)}
        onLeaveFind={() => grid.current?.focus()}
        onFilter={() => {
          if (filtering && wants.conditions.length > 0) change({ conditions: [] });
          setFiltering(!filtering);
        }}
        onQuickFilter={load}
        onChoose={(choice) => change({ choice })}
        onColumns={() => setChoosing(!choosing)}
        onMenu={(at) => setOverlay({ kind: 'menu', at })}
      />
      {filtering && (
        <FilterBar
          menu={menu}
          live={live}
          columns={shown}
          conditions={wants.conditions}
          onFilter={(conditions) => change({ conditions })}
          asked={wants.conditions.length === 0}
        />
      )}
      <Grid
        handle={grid}
        menu={menu}
        live={live}
        columns={columns}
        sort={wants.sort}
        selection={selection}
        pending={selected.pending}
        tail={tail}
        density={density}
        onSelect={select}
        onOpen={onOpen}
        onMove={actions.moveTo}
        tree={tree}
        onFold={fold}
        onDrop={actions.drop}
        onMenu={(at) => setOverlay({ kind: 'menu', at })}
        onColumnMenu={(column, at) => setOverlay({ kind: 'column', column, at })}
        onSort={sortBy}
        onReorder={(name, before) => relayout(moveColumn(menu, layout, name, before))}
        onFitted={(widths) => setFitted((now) => ({ ...now, ...Object.fromEntries(widths) }))}
        onGrown={(widths) => setGrown((now) => ({ ...now, ...Object.fromEntries(widths) }))}
        onWidth={(name, width) => relayout({ ...layout, widths: { ...layout.widths, [name]: width } })}
        onCommandKey={(event) => {
          const name = commandFor(event);
          const taken = name !== undefined && (name === HELD || actions.run(name));
          if (taken) event.preventDefault();
          return taken;
        }}
      />
      <EmptyNote menu={menu} live={live} />
      <TableFooter live={live} selected={selection.ids.size} more={props.footer} />
      {choosing && (
        <ColumnChooser
          menu={menu}
          layout={layout}
          measurements={measurements}
          onLayout={relayout}
          onClose={() => {
            setChoosing(false);
            grid.current?.focus();
          }}
        />
      )}
      {overlay.kind === 'column' && (
        <PopupMenu
          label={`Column ${overlay.column.label}`}
          at={overlay.at}
          entries={columnMenu(state, actions.run, {
            column: overlay.column,
            sort: wants.sort,
            hides: filledColumns(menu, layout, measurements).length > 1,
            onSort: (sort) => change({ sort: sort?.by === '.nr' ? null : sort }),
            onHide: () => relayout(toggleColumn(menu, layout, overlay.column.name, measurements)),
            onFit: () => grid.current?.fit(overlay.column.name),
          })}
          onClose={() => setOverlay(NOTHING)}
        />
      )}
      {overlay.kind === 'comment' && (
        <RowsCommentDialog
          menu={menu}
          live={live}
          ids={overlay.ids}
          onComment={(comment) => actions.comment(overlay.ids, comment)}
          onClose={() => setOverlay(NOTHING)}
        />
      )}
      {overlay.kind === 'parent' && (
        <ParentDialog menu={menu} moved={overlay.moved} onClose={() => setOverlay(NOTHING)} />
      )}
      {overlay.kind === 'remove' && (
        <RemoveDialog
          confirmation={overlay.confirmation}
          onAnswer={() => actions.runConfirmed(overlay.confirmation)}
          onClose={() => setOverlay(NOTHING)}
        />
      )}
      {overlay.kind === 'menu' && (
        <PopupMenu
          label={`Commands of ${menu.title}`}
          at={overlay.at}
          entries={withOwn(props.rowCommands?.(state.rows) ?? [], rowMenu(state, actions.run))}
          onClose={() => setOverlay(NOTHING)}
        />
      )}
    </div>
  );
}
