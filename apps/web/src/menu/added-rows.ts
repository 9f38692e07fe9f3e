/** Rows added in this page: the table of their menu selects them and scrolls to them. */
import type { Menu } from '@tollway/schema';
import { useEffect } from 'react';
import { live as socket } from '../api/live.ts';
import { idsOf, type LiveMenu } from '../api/live-menu.ts';
import { showError, showToast } from '../ui/toasts.ts';

type Listener = (path: string, id: string) => void;
const listeners = new Set<Listener>();

/** Announces that an item was added to a menu. */
export function announceAdded(path: string, id: string): void {
  for (const listener of listeners) listener(path, id);
}

/** Time within which the loaded rows should include the new one, ms; then its position is requested. */
const EXPECTED_MS = 1_500;

/** Waits until a row appears in a list. */
export class AwaitedRow {
  readonly #live: Pick<LiveMenu, 'shown' | 'state'>;
  readonly #show: (index: number) => void;
  readonly #search: () => Promise<readonly string[]>;
  readonly #missing: () => void;
  #id: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param show called with the position of the row
   * @param search requests the ids of the whole list
   * @param missing called when the list does not contain the row
   */
  constructor(
    live: Pick<LiveMenu, 'shown' | 'state'>,
    show: (index: number) => void,
    search: () => Promise<readonly string[]>,
    missing: () => void,
  ) {
    this.#live = live;
    this.#show = show;
    this.#search = search;
    this.#missing = missing;
  }

  wait(id: string): void {
    this.#id = id;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#searchList(id), EXPECTED_MS);
    this.check();
  }

  /** Must be called when the loaded rows have changed. */
  check(): void {
    const at = this.#id === undefined ? -1 : this.#live.shown.indexOf(this.#id);
    if (at < 0) return;
    this.stop();
    this.#show(this.#live.state.first + at);
  }

  stop(): void {
    this.#id = undefined;
    clearTimeout(this.#timer);
  }

  async #searchList(id: string): Promise<void> {
    const ids = await this.#search().catch((error: unknown) => {
      showError('The new item was not found in the list', error);
      return undefined;
    });
    if (this.#id !== id) return;
    this.stop();
    const at = ids?.indexOf(id) ?? -1;
    if (at >= 0) this.#show(at);
    else if (ids !== undefined) this.#missing();
  }
}

/** Calls `show` with the position of each row that this page adds to the menu, once the list contains it. */
export function useAddedRows(menu: Menu, live: LiveMenu, show: (index: number) => void): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: `show` may be another function each time and means the same
  useEffect(() => {
    const row = new AwaitedRow(
      live,
      // The table makes space for the row in the next frame; before that it cannot be scrolled to.
      (index) => requestAnimationFrame(() => requestAnimationFrame(() => show(index))),
      () => idsOf(socket, menu.path, live.query),
      () => showToast({ kind: 'info', text: `The new item does not pass Find or the filter of ${menu.title}.` }),
    );
    const added: Listener = (path, id) => {
      if (path !== menu.path) return;
      live.release();
      row.wait(id);
    };
    listeners.add(added);
    const stop = live.subscribe(({ order }) => order && row.check());
    return () => {
      listeners.delete(added);
      stop();
      row.stop();
    };
  }, [menu, live]);
}
