/** Actions of the commands of a table. Failures are shown; nothing is retried automatically. */
import type { Menu } from '@tollway/schema';
import { useRef } from 'react';
import { live as socket } from '../api/live.ts';
import { idsOf, isContext, type LiveMenu } from '../api/live-menu.ts';
import { trackPending } from '../api/pending.ts';
import { loggedIn } from '../api/session.ts';
import { showError, showToast } from '../ui/toasts.ts';
import { actsOnAll, commandLabel, moveItems, removeItems, rowsBlockedReason, runOn } from './actions.ts';
import { isSet } from './cells/text.ts';
import { type ReparentedItems, tryChangeParent } from './parents.ts';
import {
  confirmationIds,
  disableConfirmation,
  lostAmong,
  type RemoveConfirmation,
  removeConfirmation,
} from './remove-confirmation.ts';
import { type Move, reordered, step } from './row-moves.ts';
import { removalBlockedReason, rowsWith } from './selected-rows.ts';
import { focusOnly, retain, selectAll } from './selection.ts';
import { blockedReason, type CommandName, hasCommand, type TableState } from './table-commands.ts';
import { type Drop, rootParent, siblingAbove, stepAmongSiblings, treePlace } from './tree.ts';
import { awaitListing, matchingIds, type TableSelection } from './use-selection.ts';

/** Initial values and position of a new item. */
export interface NewItem {
  /** Id of the item whose values are copied. */
  readonly copy?: string;
  /** Id of the item before which it is inserted; without it and without `after` it is appended. */
  readonly before?: string;
  readonly after?: string;
}

interface Options {
  readonly menu: Menu;
  readonly live: LiveMenu;
  readonly selected: TableSelection;
  /** True when the menu is shown as a tree. */
  readonly tree: boolean;
  readonly onOpen: (id: string) => void;
  readonly onAdd: (start?: NewItem) => void;
  /** Runs commands that the table itself implements: `find`, `columns`, `comment`, `tree` … */
  readonly show: (name: CommandName) => void;
  /** Opens the dialog for the new parent of items. */
  readonly askParent: (moved: ReparentedItems) => void;
  /** Opens the confirmation before many items are removed, and before users disable themselves. */
  readonly ask: (confirmation: RemoveConfirmation) => void;
}

/** Number of dynamic rows at the start of an ordered list, which stay there. */
export function fixedRows(menu: Menu, live: LiveMenu): number {
  if (!menu.commands.has('move') || live.state.first > 0) return 0;
  const { shown } = live;
  const first = shown.findIndex((id) => !isSet(live.row(id) ?? {}, 'dynamic'));
  return first < 0 ? shown.length : first;
}

export function useTableActions({ menu, live, selected, tree, onOpen, onAdd, show, askParent, ask }: Options) {
  /** Items that are being removed: pressing Delete repeatedly removes them once. */
  const removing = useRef<ReadonlySet<string>>(undefined);
  const moves = useRef(Promise.resolve());
  const commands = useRef<Promise<unknown>>(Promise.resolve());
  const { selection, select, pending } = selected;
  const latest = useRef<(name: CommandName) => boolean>(() => false);
  const state = (): TableState => {
    const rows = selected.chosenRows();
    const { sort, find, filter } = live.query;
    const filtered = find !== '' || Object.keys(filter).length > 0;
    return { menu, rows, count: selection.ids.size, ordered: sort === null, tree, filtered };
  };

  /**
   * Runs an action on those of some items that still exist and pass Find and the filter; false when there are none, or
   * when this is unknown. The router must be asked about items that are not loaded, as their removals and changes are
   * not reported to this page.
   */
  async function withPresent(
    ids: readonly string[],
    act: (ids: readonly string[]) => Promise<boolean>,
  ): Promise<boolean> {
    const loaded = new Set(live.shown);
    let present = ids;
    if (!ids.every((id) => loaded.has(id))) {
      try {
        const there = new Set([...(await matchingIds(menu, live.query)), ...loaded]);
        present = ids.filter((id) => there.has(id));
        select((now) => retain(now, [...there]));
      } catch (error) {
        showError('Select', error);
        return false;
      }
    }
    if (present.length > 0) return act(present);
    const leftOut = state().filtered === true ? ', or Find or the filter leaves it out now' : '';
    showToast({ kind: 'info', text: `What was selected does not exist any more${leftOut}.` });
    return false;
  }

  /** Runs an action as a command: after earlier commands, and before a later Undo. */
  function commandOn(ids: readonly string[], act: (ids: readonly string[]) => Promise<boolean>): Promise<boolean> {
    const done = trackPending(commands.current.then(() => withPresent(ids, act)));
    // A failed command does not prevent the next ones.
    commands.current = done.catch(() => undefined);
    return done;
  }

  /** The rows with these ids, loaded or not; undefined when the router does not answer, which is reported. */
  async function knownRows(ids: readonly string[], properties: readonly string[], what: string) {
    try {
      return await rowsWith(menu, live, ids, properties);
    } catch (error) {
      showError(what, error);
      return undefined;
    }
  }

  const notifyRefused = (name: CommandName, why: string) =>
    showToast({ kind: 'info', key: 'refused', text: `${commandLabel(name)}: ${why}.` });

  /** Like {@link knownRows}, for rows to remove; undefined, with a message, when one of them cannot be removed. */
  async function removable(ids: readonly string[]) {
    try {
      const why = await removalBlockedReason(menu, live, ids);
      if (why === undefined)
        return await rowsWith(menu, live, confirmationIds(menu, 'remove', ids), Object.keys(menu.props));
      notifyRefused('remove', why);
    } catch (error) {
      showError(commandLabel('remove'), error);
    }
    return undefined;
  }

  async function askForParent(ids: readonly string[]) {
    const rows = await knownRows(ids, ['name', 'parent'], 'Set parent');
    if (rows !== undefined && rows.length > 0) askParent({ ids, rows });
  }

  /** Removes the selected items, after a confirmation if one is needed. */
  async function removeChosen(ids: readonly string[]): Promise<boolean> {
    const rows = await removable(ids);
    if (rows === undefined) return false;
    const { matched, context, total } = live.state;
    const filtered = state().filtered === true;
    const confirmation = removeConfirmation(menu, {
      ids,
      rows,
      filtered,
      matched: matched - context,
      total,
      user: loggedIn(),
    });
    if (confirmation === undefined) return remove(ids, lostAmong(menu, ids, rows));
    ask(confirmation);
    return true;
  }

  /**
   * Removes items and deselects them, so that another Delete removes no further items. Items that were selected
   * meanwhile stay selected.
   */
  async function remove(ids: readonly string[], lost: readonly string[] = []): Promise<boolean> {
    const gone = new Set(ids);
    const order = live.shown;
    const at = order.findIndex((id) => gone.has(id));
    if (!(await removeItems(menu, ids, new Set(lost)))) return false;
    live.release();
    const next = order.slice(at).find((id) => !gone.has(id)) ?? order.slice(0, at).findLast((id) => !gone.has(id));
    select((now) => {
      const left = [...now.ids].filter((id) => !gone.has(id));
      return left.length === 0 ? focusOnly(next) : { ...now, ids: new Set(left) };
    });
    return true;
  }

  /** Sets the comment of items. */
  const comment = (ids: readonly string[], text: string): Promise<boolean> =>
    commandOn(ids, (present) => runOn(menu, 'comment', present, { comment: text }));

  /** Runs the command that the user has confirmed. */
  function runConfirmed({ command, ids, lost }: RemoveConfirmation) {
    void commandOn(ids, (present) => (command === 'remove' ? remove(present, lost) : runOn(menu, command, present)));
  }

  function moveTo(move: Move | undefined) {
    if (move === undefined || live.query.sort !== null) return;
    const rows = move.ids.map((id) => live.row(id)).filter((row) => row !== undefined);
    if (rowsBlockedReason(menu, 'move', rows, move.ids.length) !== undefined) return;
    // In a tree rows move together with their descendants, which only the server knows.
    const settled = tree ? () => {} : live.reorder((order) => reordered(order, move));
    // Moves run one after the other, as each is based on the order that the previous one made.
    moves.current = trackPending(
      moves.current.then(async () => {
        const moved = await moveItems(menu, move);
        settled();
        if (!moved) live.refresh();
      }),
    );
  }

  const lines = () => live.shown.map((id) => live.row(id)).filter((row) => row !== undefined);

  /** Runs the effect of a drop in the tree. */
  function drop(ids: readonly string[], what: Drop) {
    const rows = ids.map((id) => live.row(id)).filter((row) => row !== undefined);
    if (what.kind === 'move') moveTo(what.move);
    else if (what.kind === 'root') void tryChangeParent(menu, { ids, rows }, rootParent(menu));
    else if (what.kind === 'below') {
      const parent = live.row(what.parent)?.name;
      if (parent !== undefined) void tryChangeParent(menu, { ids, rows }, parent);
      else showToast({ kind: 'error', text: 'Not moved: what it was dropped on does not exist any more.' });
    } else if (what.why !== '') showToast({ kind: 'error', text: `Not moved: ${what.why}.` });
  }

  /** Moves rows one level down (below the previous sibling) or up (next to the parent). */
  function changeLevel(by: 'in' | 'out') {
    const rows = selected.chosenRows();
    const [first] = rows;
    if (first === undefined) return;
    const parent = live.row(treePlace(first)?.above.at(-1) ?? '');
    const to = by === 'in' ? siblingAbove(lines(), first)?.name : parent && (parent.parent ?? rootParent(menu));
    if (to !== undefined) void tryChangeParent(menu, { ids: selected.chosen(), rows }, to);
    else
      showToast({
        kind: 'info',
        text: by === 'in' ? 'There is no row above on the same level.' : 'It is at the root.',
      });
  }

  function moveBy(by: -1 | 1) {
    if (tree) moveTo(stepAmongSiblings(lines(), selected.chosenRows(), by));
    else moveTo(step(live.shown, selection.ids, by, fixedRows(menu, live)));
  }

  function selectAllRows() {
    const { matched } = live.state;
    if (matched <= live.shown.length) {
      const passing = live.shown.filter((id) => !isContext(live.row(id)));
      select((now) => selectAll(now, passing));
      return;
    }
    awaitListing(pending, 'Select all', idsOf(socket, menu.path, live.query), (ids) =>
      // A selection that the user has changed meanwhile is kept.
      select((now) => (now === selection ? selectAll(now, ids) : now)),
    );
  }

  function insert(id: string, below: boolean) {
    if (!below) return onAdd({ before: id });
    // A position next to a dynamic row is impossible: the first stored row follows the dynamic ones.
    const at = live.shown.indexOf(id);
    const next = isSet(live.row(id) ?? {}, 'dynamic') ? live.shown[at + 1] : undefined;
    onAdd(next === undefined ? { after: id } : { before: next });
  }

  /** Runs a command if it can run now; true when the menu has it. */
  function run(name: CommandName): boolean {
    if (!hasCommand(menu, name)) return false;
    if (pending.current !== undefined && name !== 'select-none' && name !== 'select-all') {
      // Commands of keys run in the order in which the keys were pressed.
      void pending.current.then((done) => done && latest.current(name));
      return true;
    }
    // The rendered state of a row may be older than the last key.
    const why = blockedReason(state(), name);
    if (why !== undefined) {
      if (selection.ids.size > 0) notifyRefused(name, why);
      return true;
    }
    const [id] = selection.ids;
    switch (name) {
      case 'add':
        onAdd();
        break;
      case 'open':
        if (id !== undefined) onOpen(id);
        break;
      case 'copy':
        if (id !== undefined) onAdd({ copy: id });
        break;
      case 'insert-above':
      case 'insert-below':
        if (id !== undefined) insert(id, name === 'insert-below');
        break;
      case 'move-up':
      case 'move-down':
        moveBy(name === 'move-up' ? -1 : 1);
        break;
      case 'indent':
      case 'outdent':
        changeLevel(name === 'indent' ? 'in' : 'out');
        break;
      case 'select-all':
        selectAllRows();
        break;
      case 'select-none':
        // The keyboard focus stays.
        select(({ focus }) => focusOnly(focus));
        break;
      case 'remove':
        live.release();
        if (removing.current === selection.ids) break;
        removing.current = selection.ids;
        void commandOn(selected.chosen(), removeChosen).finally(() => {
          if (removing.current === selection.ids) removing.current = undefined;
        });
        break;
      case 'find':
      case 'find-next':
      case 'columns':
      case 'inline-comments':
      case 'comment':
      case 'tree':
      case 'fold-all':
      case 'unfold-all':
      case 'copy-text':
        show(name);
        break;
      case 'parent':
        void askForParent(selected.chosen());
        break;
      case 'disable': {
        live.release();
        void commandOn(selected.chosen(), async (ids) => {
          const rows = await knownRows(confirmationIds(menu, 'disable', ids), ['name'], commandLabel('disable'));
          if (rows === undefined) return false;
          const confirmation = disableConfirmation(menu, ids, rows, loggedIn());
          if (confirmation === undefined) return runOn(menu, name, ids);
          ask(confirmation);
          return true;
        });
        break;
      }
      default:
        live.release();
        if (actsOnAll(menu, name)) void runOn(menu, name, []);
        else void commandOn(selected.chosen(), (ids) => runOn(menu, name, ids));
    }
    return true;
  }

  latest.current = run;
  return { state, run, moveTo, drop, comment, runConfirmed };
}
