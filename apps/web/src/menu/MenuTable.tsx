/** The window of a list: toolbar, table, footer. Everything in it follows from the menu's declaration. */
import type { Menu } from '@tollway/schema';
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { live as socket } from '../api/live.ts';
import { idsOf, LiveMenu } from '../api/live-menu.ts';
import { useOptions } from '../api/references.ts';
import { showError } from '../ui/toasts.ts';
import { useVisible } from '../ui/visibility.ts';
import { actsOnAll, moveItems, removeItems, runOn, whyNot } from './actions.ts';
import { ColumnChooser } from './ColumnChooser.tsx';
import { CommentDialog } from './CommentDialog.tsx';
import { chooserProp } from './chooser.ts';
import { type Layout, loadLayout, saveLayout, tableColumns } from './columns.ts';
import { EmptyNote } from './EmptyNote.tsx';
import { FilterBar } from './FilterBar.tsx';
import { Grid } from './Grid.tsx';
import { type Move, reordered, step } from './moving.ts';
import { everything, inOrder, noSelection, type Selection, within } from './selection.ts';
import { TableFooter } from './TableFooter.tsx';
import { TableToolbar } from './TableToolbar.tsx';
import { commandFor } from './table-keys.ts';

export interface MenuTableProps {
  readonly menu: Menu;
  /** Changes when row heights change. */
  readonly density: string;
  /** Follows the end of the list while it is in view, as a log does. */
  readonly tail?: boolean;
  readonly onOpen: (id: string) => void;
  readonly onAdd: () => void;
  /** Buttons of this window alone, at the end of the commands. */
  readonly toolbar?: ReactNode;
  /** What the footer says behind the number of items. */
  readonly footer?: ReactNode;
  /** Hears of the ids of the rows that are selected, and of those that are loaded. */
  readonly onSelection?: (selected: readonly string[], loaded: readonly string[], live: LiveMenu) => void;
}

/** Rows asked for before the size of the screen is known. */
const FIRST_ROWS = 100;
const FIND_WAIT_MS = 150;

export function MenuTable(props: MenuTableProps) {
  const { menu, density, tail = false, onOpen, onAdd, onSelection } = props;
  const live = useMemo(
    () =>
      new LiveMenu(
        socket,
        menu.path,
        { first: 0, count: FIRST_ROWS, sort: null, filter: {}, find: '' },
        menu.refreshMs ?? 1000,
      ),
    [menu],
  );
  const visible = useVisible();
  useEffect(() => {
    if (!visible) return;
    live.open();
    return () => live.close();
  }, [live, visible]);

  const [selection, setSelection] = useState<Selection>(noSelection);
  const [layout, setLayout] = useState<Layout>(() => loadLayout(menu));
  const [fitted, setFitted] = useState<Readonly<Record<string, number>>>({});
  const [query, setQuery] = useState(live.query);
  const [find, setFind] = useState('');
  const [open, setOpen] = useState<'nothing' | 'columns' | 'comment'>('nothing');
  const [filtering, setFiltering] = useState(false);
  const findBox = useRef<HTMLInputElement>(null);
  const root = useRef<HTMLElement>(null);
  const moves = useRef(Promise.resolve());
  const findTimer = useRef<ReturnType<typeof setTimeout>>(undefined);

  const columns = useMemo(
    () => tableColumns(menu, { ...layout, widths: { ...fitted, ...layout.widths } }),
    [menu, layout, fitted],
  );
  const version = useSyncExternalStore(
    (changed) => live.subscribe((change) => change.order && changed()),
    () => live.shown,
  );
  // Rows that are gone or filtered out must not be acted on; beyond the loaded window nobody knows.
  const { state } = live;
  const complete = state.loaded && state.first === 0 && state.order.length === state.matched;
  const kept = complete ? within(selection, version) : selection;
  if (kept !== selection) setSelection(kept);
  const chosen = inOrder(kept, version);
  // Read anew at each use: values change without a render of the whole table.
  const selectedRows = () => chosen.map((id) => live.row(id)).filter((row) => row !== undefined);
  const rows = selectedRows();

  const choice = chooserProp(menu);
  const { options, load } = useOptions(choice === undefined ? undefined : menu.props[choice.name]?.kind);
  useEffect(load, [load]);

  useEffect(() => onSelection?.([...selection.ids], version, live), [selection, version, live, onSelection]);

  function show(part: Partial<typeof query>) {
    live.show({ first: 0, ...part });
    setQuery(live.query);
  }

  function relayout(next: Layout) {
    setLayout(next);
    saveLayout(menu, next);
  }

  function setFilter(filter: Readonly<Record<string, string>>) {
    show({ filter });
  }

  function sortBy(column: string) {
    const now = live.query.sort;
    if (column === '.nr') show({ sort: null });
    else if (now?.by !== column) show({ sort: { by: column, desc: false } });
    else show({ sort: now.desc ? null : { by: column, desc: true } });
  }

  async function remove() {
    const gone = new Set(chosen);
    const at = version.findIndex((id) => gone.has(id));
    if (!(await removeItems(menu, selectedRows(), chosen, version))) return;
    live.release();
    const next = version.slice(at).find((id) => !gone.has(id)) ?? version.slice(0, at).findLast((id) => !gone.has(id));
    setSelection(next === undefined ? noSelection : { ids: new Set([next]), focus: next, anchor: next });
  }

  function command(name: string) {
    if (name === 'add') {
      if (menu.commands.includes('add')) onAdd();
      return;
    }
    if (!actsOnAll(name) && whyNot(menu, name, rows, chosen.length) !== undefined) return;
    live.release();
    if (name === 'remove') void remove();
    else if (name === 'comment') setOpen('comment');
    else void runOn(menu, name, actsOnAll(name) ? [] : chosen);
  }

  function moveTo(move: Move | undefined) {
    if (move === undefined || whyNot(menu, 'move', rows, chosen.length) !== undefined) return;
    const settled = live.reorder((order) => reordered(order, move));
    // One after the other: each move counts on the order that the one before it made.
    moves.current = moves.current.then(async () => {
      const moved = await moveItems(menu, move);
      settled();
      if (!moved) live.refresh();
    });
  }

  function selectAll() {
    const { matched } = live.state;
    if (matched <= version.length) {
      setSelection(everything(selection, version));
      return;
    }
    idsOf(socket, menu.path, live.query)
      .then((ids) => setSelection(everything(selection, ids)))
      .catch((error: unknown) => showError('Select all', error));
  }

  function onCommandKey(event: KeyboardEvent): boolean {
    const name = commandFor(event);
    if (
      name === undefined ||
      !(name === 'add' || name === 'move-up' || name === 'move-down' || menu.commands.includes(name))
    ) {
      return false;
    }
    event.preventDefault();
    if (name === 'move-up' || name === 'move-down') {
      if (live.query.sort === null && menu.commands.includes('move')) {
        moveTo(step(live.shown, selection.ids, name === 'move-up' ? -1 : 1));
      }
    } else command(name);
    return true;
  }

  useEffect(() => {
    const focusFind = (event: globalThis.KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'f' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey)
        return;
      if (document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      findBox.current?.select();
      findBox.current?.focus();
    };
    window.addEventListener('keydown', focusFind);
    return () => window.removeEventListener('keydown', focusFind);
  }, []);
  useEffect(() => () => clearTimeout(findTimer.current), []);

  return (
    <section ref={root} className="menu-table" aria-label={menu.title}>
      <TableToolbar
        menu={menu}
        rows={rows}
        count={chosen.length}
        find={find}
        findBox={findBox}
        filtering={filtering || Object.keys(query.filter).length > 0}
        chooser={
          choice === undefined ? undefined : { label: choice.label, value: query.filter[choice.name] ?? '', options }
        }
        onAdd={() => command('add')}
        onCommand={command}
        onMove={(by) => moveTo(step(live.shown, selection.ids, by))}
        onFind={(text) => {
          setFind(text);
          clearTimeout(findTimer.current);
          findTimer.current = setTimeout(() => show({ find: text }), FIND_WAIT_MS);
        }}
        onFilter={() => {
          if (filtering && Object.keys(query.filter).length > 0) setFilter({});
          setFiltering(!filtering);
        }}
        onChoose={(value) => {
          if (choice === undefined) return;
          const { [choice.name]: _, ...rest } = query.filter;
          setFilter(value === '' ? rest : { ...rest, [choice.name]: value });
        }}
        onColumns={() => setOpen('columns')}
        more={props.toolbar}
      />
      {filtering && <FilterBar menu={menu} filter={query.filter} onFilter={setFilter} />}
      <Grid
        menu={menu}
        live={live}
        columns={columns}
        selection={selection}
        tail={tail}
        density={density}
        onSelect={setSelection}
        onSelectAll={selectAll}
        onOpen={onOpen}
        onMove={moveTo}
        onSort={sortBy}
        onFitted={(widths) => setFitted((now) => ({ ...now, ...Object.fromEntries(widths) }))}
        onWidth={(name, width) => {
          if (width !== undefined) relayout({ ...layout, widths: { ...layout.widths, [name]: width } });
        }}
        onCommandKey={onCommandKey}
      />
      <EmptyNote menu={menu} live={live} />
      <TableFooter live={live} selected={selection.ids.size} more={props.footer} />
      {open === 'columns' && (
        <ColumnChooser menu={menu} layout={layout} onLayout={relayout} onClose={() => setOpen('nothing')} />
      )}
      {open === 'comment' && (
        <CommentDialog
          value={rows[0]?.comment ?? ''}
          onComment={(comment) => void runOn(menu, 'comment', chosen, { comment })}
          onClose={() => setOpen('nothing')}
        />
      )}
    </section>
  );
}
