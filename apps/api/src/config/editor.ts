import { datetimeText, type Menu } from '@tollway/schema';
import { type ApiError, errors } from '../errors.js';
import { type Arguments, accepted, textOf } from './content.js';
import type { Draft, RowContent } from './draft.js';
import { findItem, noSuchItem, storageOf } from './items.js';
import type { Author } from './record.js';
import { followRename } from './references.js';
import { type Row, rowIdText } from './snapshot.js';
import type { ConfigStore } from './store.js';
import { verifyAdd, verifySet } from './verify.js';

/** The commands that change stored menus. Each is one commit: all of it happens or nothing. */
export class Editor {
  readonly #store: ConfigStore;

  constructor(store: ConfigStore) {
    this.#store = store;
  }

  /** Returns the id of the new row. */
  add(author: Author, menu: Menu, args: Arguments): Promise<number> {
    const { 'place-before': before, ...given } = args;
    if (before !== undefined && menu.kind !== 'ordered') throw errors.unknownParameter('place-before');
    const stamped: Readonly<Record<string, string>> =
      'creation-time' in menu.props ? { 'creation-time': datetimeText(Date.now()) } : {};
    return this.#store.commit(
      author,
      (id) => `add ${menu.path} ${rowIdText(id)}`,
      (draft) => {
        const content = accepted(verifyAdd(menu, given, draft.snapshot()));
        const place =
          before === undefined
            ? undefined
            : findItem(menu, draft.rows(menu.path), textOf('place-before', before), () =>
                errors.badProperty('place-before', 'place-before: no such item; it accepts the .id of a row'),
              ).id;
        return draft.add(menu.path, { ...content, values: { ...content.values, ...stamped } }, place);
      },
    );
  }

  /** Changes the properties given. Returns the ids of the rows. */
  set(
    author: Author,
    menu: Menu,
    items: readonly string[],
    args: Arguments,
    missing: () => ApiError = noSuchItem,
  ): Promise<number[]> {
    return this.#each(author, 'set', menu, items, missing, (row, draft) =>
      accepted(verifySet(menu, row, args, draft.snapshot())),
    );
  }

  setComment(author: Author, menu: Menu, items: readonly string[], comment: string): Promise<number[]> {
    return this.#each(author, 'comment', menu, items, noSuchItem, (row, draft) =>
      accepted(verifySet(menu, row, { comment }, draft.snapshot())),
    );
  }

  setDisabled(author: Author, menu: Menu, items: readonly string[], disabled: boolean): Promise<number[]> {
    const command = disabled ? 'disable' : 'enable';
    return this.#each(author, command, menu, items, noSuchItem, (row) => ({ ...row, disabled }));
  }

  unset(author: Author, menu: Menu, items: readonly string[], names: readonly string[]): Promise<number[]> {
    const args = Object.fromEntries(names.map((name) => [`!${name}`, '']));
    return this.#each(author, 'unset', menu, items, noSuchItem, (row, draft) =>
      accepted(verifySet(menu, row, args, draft.snapshot())),
    );
  }

  remove(
    author: Author,
    menu: Menu,
    items: readonly string[],
    missing: () => ApiError = noSuchItem,
  ): Promise<number[]> {
    return this.#store.commit(author, summary('remove', menu), (draft) => {
      const rows = draft.rows(menu.path);
      const ids = items.map((item) => findItem(menu, rows, item, missing).id);
      for (const id of ids) draft.remove(menu.path, id);
      return ids;
    });
  }

  /** Moves items, in the order given, to before `destination`, or to the end. */
  move(author: Author, menu: Menu, items: readonly string[], destination: string | undefined): Promise<number[]> {
    return this.#store.commit(author, summary('move', menu), (draft) => {
      const rows = draft.rows(menu.path);
      const ids = items.map((item) => findItem(menu, rows, item, noSuchItem).id);
      const before = destination === undefined ? undefined : findItem(menu, rows, destination, noSuchItem).id;
      draft.move(menu.path, ids, before);
      return ids;
    });
  }

  /** Changes a settings menu. */
  setSettings(author: Author, menu: Menu, args: Arguments): Promise<void> {
    return this.#store.commit(author, `set ${menu.path}`, (draft) => {
      const row = draft.rows(menu.path)[0];
      const content = accepted(verifySet(menu, row, args, draft.snapshot()));
      if (row !== undefined) draft.set(menu.path, row.id, content);
      else if (Object.keys(content.values).length > 0) draft.add(menu.path, content);
    });
  }

  #each(
    author: Author,
    command: string,
    menu: Menu,
    items: readonly string[],
    missing: () => ApiError,
    change: (row: Row, draft: Draft) => RowContent,
  ): Promise<number[]> {
    const storage = storageOf(menu);
    return this.#store.commit(author, summary(command, menu), (draft: Draft) =>
      items.map((item) => {
        const row = findItem(menu, draft.rows(storage), item, missing);
        const { values, disabled, comment } = change(row, draft);
        draft.set(storage, row.id, { values, disabled, comment });
        if (row.values.name !== undefined && values.name !== undefined && row.values.name !== values.name) {
          // Items refer to each other by name: what refers to this one follows.
          const renamed = followRename(draft.snapshot(), storage, row.values.name, values.name);
          for (const { menu: path, row: changed } of renamed) draft.set(path, changed.id, changed);
        }
        return row.id;
      }),
    );
  }
}

function summary(command: string, menu: Menu): (ids: readonly number[]) => string {
  return (ids) => {
    const shown = ids.slice(0, 5).map(rowIdText).join(',');
    return `${command} ${menu.path} ${shown}${ids.length > 5 ? ` and ${ids.length - 5} more` : ''}`;
  };
}
