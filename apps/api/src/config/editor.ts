import { type Menu, storedDatetime } from '@tollway/schema';
import { ApiError, errors } from '../errors.js';
import { TimeSlicer } from '../scheduling/time-slicer.js';
import { builtinRow } from '../snapshot/builtin.js';
import { type Row, rowIdText } from '../snapshot/snapshot.js';
import { storagesOf } from '../snapshot/storage.js';
import { describeChanges, describeSettings } from './change-summary.js';
import { type Arguments, argumentText, verifiedContent } from './content.js';
import { type Draft, type RowContent, sameContent } from './draft.js';
import { findDrafted, noSuchItem } from './items.js';
import { prepareChecks } from './menu-checks.js';
import { followRename } from './references.js';
import type { Author } from './revision-storage.js';
import type { ConfigStore, Summary } from './store.js';
import { verifyAdd, verifySet } from './verify.js';

/** Changes of one item. */
export interface ItemChange {
  /** `.id` or name. */
  readonly item: string;
  readonly args: Arguments;
}

/** The commands that change stored menus. Each of them is one commit: either all of its changes are stored, or none. */
export class Editor {
  readonly #store: ConfigStore;

  constructor(store: ConfigStore) {
    this.#store = store;
  }

  /** Returns the id of the new row. */
  add(author: Author, menu: Menu, args: Arguments): Promise<number> {
    return this.#store.commit(
      author,
      (id, changes) => describeChanges('add', menu, [id], changes),
      async (draft) => {
        await prepareSlicer(draft, menu);
        return addOne(draft, menu, args);
      },
    );
  }

  /**
   * Adds rows, all of them or none. Returns their ids.
   * @throws ApiError that says which element is wrong, counted from 0.
   */
  addAll(author: Author, menu: Menu, list: readonly Arguments[]): Promise<number[]> {
    return this.#commitElements(author, 'add', menu, list, (args, draft) => addOne(draft, menu, args));
  }

  /**
   * Changes rows, each in its own way, all of them or none. Returns their ids.
   * @throws ApiError that says which element is wrong, counted from 0.
   */
  setAll(author: Author, menu: Menu, list: readonly ItemChange[]): Promise<number[]> {
    const changed = new Set<number>();
    return this.#commitElements(author, 'set', menu, list, ({ item, args }, draft) => {
      const id = changeOne(draft, menu, item, noSuchItem, (row, storage) =>
        verifiedChange(draft, menu, row, args, storage),
      );
      // If an item is changed twice, one of the changes would be lost silently.
      if (changed.has(id)) {
        throw errors.badProperty('.id', `value of .id: an element before this one names ${rowIdText(id)} too`);
      }
      changed.add(id);
      return id;
    });
  }

  /** Edits elements of a list in one commit. Returns the ids of their rows. */
  async #commitElements<Element>(
    author: Author,
    command: string,
    menu: Menu,
    list: readonly Element[],
    edit: (element: Element, draft: Draft) => number,
  ): Promise<number[]> {
    const ids: number[] = [];
    let current: number | undefined;
    try {
      await this.#store.commit(
        author,
        (_, changes) => describeChanges(command, menu, ids, changes),
        async (draft) => {
          const slicer = await prepareSlicer(draft, menu);
          await slicer.map(list, (element, index) => {
            current = index;
            ids.push(edit(element, draft));
          });
          current = undefined;
        },
      );
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // Either editing this element failed, or the data plane reports the row at fault.
      const index = current ?? (error.row === undefined ? -1 : ids.indexOf(error.row));
      throw index < 0 ? error : errors.inElement(index, error);
    }
    return ids;
  }

  /** Changes the given properties. Returns the ids of the rows. */
  set(
    author: Author,
    menu: Menu,
    items: readonly string[],
    args: Arguments,
    notFound: (item: string) => ApiError = noSuchItem,
  ): Promise<number[]> {
    return this.#commitItems(author, 'set', menu, items, notFound, (row, storage, draft) =>
      verifiedChange(draft, menu, row, args, storage),
    );
  }

  setComment(author: Author, menu: Menu, items: readonly string[], comment: string): Promise<number[]> {
    return this.#commitItems(author, 'comment', menu, items, noSuchItem, (row, storage, draft) =>
      verifiedChange(draft, menu, row, { comment }, storage),
    );
  }

  setDisabled(author: Author, menu: Menu, items: readonly string[], disabled: boolean): Promise<number[]> {
    const command = disabled ? 'disable' : 'enable';
    return this.#commitItems(author, command, menu, items, noSuchItem, (row) => ({ ...row, disabled }), false);
  }

  unset(author: Author, menu: Menu, items: readonly string[], names: readonly string[]): Promise<number[]> {
    const args = Object.fromEntries(names.map((name) => [`!${name}`, '']));
    return this.#commitItems(author, 'unset', menu, items, noSuchItem, (row, storage, draft) =>
      verifiedChange(draft, menu, row, args, storage),
    );
  }

  remove(
    author: Author,
    menu: Menu,
    items: readonly string[],
    notFound: (item: string) => ApiError = noSuchItem,
  ): Promise<number[]> {
    return this.#store.commit(author, summary('remove', menu), async (draft) => {
      const slicer = new TimeSlicer();
      const rows = await slicer.map(items, (item) => findDrafted(menu, draft, item, notFound).row);
      if (rows.some(({ id }) => builtinRow(menu, { id }) !== undefined)) {
        throw errors.failure('a builtin item can not be removed');
      }
      await slicer.map(rows, ({ id }) => draft.remove(menu.path, id));
      return rows.map(({ id }) => id);
    });
  }

  /** Moves items, in the order given, to a position. Returns their ids. */
  move(author: Author, menu: Menu, items: readonly string[], place: RowPosition): Promise<number[]> {
    let rowsAbove: ReadonlyMap<number, number | undefined> = new Map();
    const where = (id: number): string => {
      const other = rowsAbove.get(id);
      return other === undefined ? 'to the top' : `below ${rowIdText(other)}`;
    };
    const moved: Summary<number[]> = (ids, changes) => describeChanges('move', menu, ids, changes, where);
    return this.#store.commit(author, moved, async (draft) => {
      const ids = await new TimeSlicer().map(items, (item) => findDrafted(menu, draft, item, noSuchItem).row.id);
      draft.move(menu.path, ids, rowBelow(draft, menu, place, new Set(ids)));
      const rows = draft.rows(menu.path);
      rowsAbove = new Map(rows.map(({ id }, place) => [id, rows[place - 1]?.id]));
      return ids;
    });
  }

  /** Changes a settings menu. */
  setSettings(author: Author, menu: Menu, args: Arguments): Promise<void> {
    const described: Summary<void> = (_, changes) => describeSettings(menu, changes);
    return this.#store.commit(author, described, (draft) => {
      const row = draft.rows(menu.path)[0];
      const content = verifiedContent(verifySet(draft.checks, menu, row, args, draft.snapshot()));
      if (row !== undefined) draft.set(menu.path, row.id, content);
      else if (Object.keys(content.values).length > 0) draft.add(menu.path, content);
    });
  }

  /** Changes each of the items in one commit. Returns the ids of their rows. */
  #commitItems(
    author: Author,
    command: string,
    menu: Menu,
    items: readonly string[],
    notFound: (item: string) => ApiError,
    change: (row: Row, storage: string, draft: Draft) => RowContent,
    checks = true,
  ): Promise<number[]> {
    return this.#store.commit(author, summary(command, menu), async (draft: Draft) => {
      const slicer = checks ? await prepareSlicer(draft, menu) : new TimeSlicer();
      return slicer.map(items, (item) =>
        changeOne(draft, menu, item, notFound, (row, storage) => change(row, storage, draft)),
      );
    });
  }
}

/** A time slicer for changes of a menu's rows, after the indexes of the menu's checks have been built. */
async function prepareSlicer(draft: Draft, menu: Menu): Promise<TimeSlicer> {
  const slicer = new TimeSlicer();
  for (const storage of storagesOf(menu.path)) {
    await prepareChecks(draft.checks.get(storage), draft.byKey(storage), slicer);
  }
  return slicer;
}

/** Changes a row, and the references to it when it is renamed. Returns its id. */
function changeOne(
  draft: Draft,
  menu: Menu,
  item: string,
  notFound: (item: string) => ApiError,
  change: (row: Row, storage: string) => RowContent,
): number {
  const { row, storage } = findDrafted(menu, draft, item, notFound);
  const { values, disabled, comment } = change(row, storage);
  writeRow(draft, menu, storage, row.id, { values, disabled, comment });
  // Rows reference each other by name.
  if (row.values.name !== undefined && values.name !== undefined && row.values.name !== values.name) {
    followRename(draft, storage, row.values.name, values.name);
  }
  return row.id;
}

/** Writes a changed row. A built-in row is stored only while it differs from its defaults. */
function writeRow(draft: Draft, menu: Menu, storage: string, id: number, content: RowContent): void {
  const first = builtinRow(menu, { id });
  if (first !== undefined && sameContent(first, { id, ...content })) draft.remove(storage, id);
  else if (first !== undefined && draft.find(storage, id) === undefined) draft.addWithId(storage, id, content);
  else draft.set(storage, id, content);
}

/** Adds a row before the item of `place-before`, after the item of `place-after`, or at the end. Returns its id. */
function addOne(draft: Draft, menu: Menu, args: Arguments): number {
  const { 'place-before': _before, 'place-after': _after, ...given } = args;
  const wanted = rowPosition(args, 'place-before');
  if (menu.kind !== 'ordered' && wanted.by !== undefined) throw errors.unknownParameter(wanted.by);
  const content = withAutoName(
    draft,
    menu,
    verifiedContent(verifyAdd(draft.checks, menu, given, draft.snapshot(), draft.storage(menu.path))),
  );
  const place = rowBelow(draft, menu, wanted, new Set(), () => {
    const by = wanted.by ?? 'place-before';
    return errors.badProperty(by, `${by}: no such item; it accepts the .id of a row`);
  });
  const stamped = Object.keys(menu.props).filter((name) => menu.props[name]?.stampedOnAdd === true);
  const stamps = Object.fromEntries(stamped.map((name) => [name, storedDatetime(Date.now())]));
  return draft.add(menu.path, { ...content, values: { ...content.values, ...stamps } }, place);
}

/** Position for items in an ordered menu: next to another item, or at the end. */
export interface RowPosition {
  /** The argument that names the other item; undefined for the end. */
  readonly by: string | undefined;
  readonly item: string;
  /** The position is below the other item; otherwise it is above that item. */
  readonly below: boolean;
}

/**
 * The position that arguments name: `place-after`, or `argument`, which is the name in RouterOS.
 * @throws ApiError when both are given.
 */
export function rowPosition(args: Arguments, argument: 'place-before' | 'destination'): RowPosition {
  const after = args['place-after'];
  // An empty destination is the end.
  const before = argument === 'destination' && args.destination === '' ? undefined : args[argument];
  if (before !== undefined && after !== undefined) {
    throw errors.badProperty('place-after', `value of place-after: give it or ${argument}, not both`);
  }
  if (after !== undefined) return { by: 'place-after', item: argumentText('place-after', after), below: true };
  if (before !== undefined) return { by: argument, item: argumentText(argument, before), below: false };
  return { by: undefined, item: '', below: false };
}

/** The id of the row just below a position, skipping rows that are themselves moved; undefined for the end. */
function rowBelow(
  draft: Draft,
  menu: Menu,
  { by, item, below }: RowPosition,
  moved: ReadonlySet<number>,
  notFound: (item: string) => ApiError = noSuchItem,
): number | undefined {
  if (by === undefined) return undefined;
  const { id } = findDrafted(menu, draft, item, notFound).row;
  if (!below) return id;
  const rows = draft.rows(menu.path);
  return rows.slice(rows.findIndex((row) => row.id === id) + 1).find((row) => !moved.has(row.id))?.id;
}

function verifiedChange(draft: Draft, menu: Menu, row: Row, args: Arguments, storage: string): RowContent {
  const content = verifiedContent(verifySet(draft.checks, menu, row, args, draft.snapshot(), draft.storage(storage)));
  if (menu.autoName !== undefined && content.values.name === undefined) {
    throw errors.badProperty('name', `name cannot be unset: ${menu.props.name?.kind.accepts}`);
  }
  return content;
}

/** The content with a free name, if it has none and the menu assigns names. */
export function withAutoName(draft: Draft, menu: Menu, content: RowContent): RowContent {
  const stem = menu.autoName;
  if (stem === undefined || content.values.name !== undefined) return content;
  return { ...content, values: { name: draft.freeName(menu.path, stem), ...content.values } };
}

function summary(command: string, menu: Menu): Summary<readonly number[]> {
  return (ids, changes) => describeChanges(command, menu, ids, changes);
}
