/** Ranges of rows, selected with Shift, even if the first row of the range is no longer loaded. */
import type { Menu } from '@tollway/schema';
import { type RefObject, useRef } from 'react';
import { flushSync } from 'react-dom';
import { live as socket } from '../api/live.ts';
import { idsOf, type LiveMenu, type Query } from '../api/live-menu.ts';
import { showError } from '../ui/toasts.ts';
import { extendBeyondLoaded, extendTo, type Selection } from './selection.ts';

interface Owner {
  readonly selection: Selection;
  readonly onSelect: (selection: Selection) => void;
}

/** A range whose start is not loaded, so that only the router knows its position. */
interface Far {
  readonly id: string;
  readonly keep: boolean;
  /** Selection until the range has arrived. */
  readonly meanwhile: Selection;
}

const isSameList = (a: Query, b: Query): boolean => a.find === b.find && a.filter === b.filter && a.sort === b.sort;

/** Returns a function that selects from the anchor to a row; `order`: order of the loaded rows. */
export function useRange(
  menu: Menu,
  live: LiveMenu,
  owner: RefObject<Owner>,
  pending: RefObject<Promise<boolean> | undefined>,
) {
  const wanted = useRef<Far>(undefined);
  const asking = useRef<Promise<boolean>>(undefined);

  /** Requests the range; one request at a time, even if a key is held. False when the router does not answer. */
  async function ask(): Promise<boolean> {
    try {
      while (wanted.current !== undefined) {
        const { query } = live;
        const ids = await idsOf(socket, menu.path, query);
        const far: Far | undefined = wanted.current;
        wanted.current = undefined;
        const { selection, onSelect } = owner.current;
        // A later selection or query supersedes this one.
        if (far === undefined || !isSameList(live.query, query)) return true;
        if (selection.focus !== far.meanwhile.focus || selection.anchor !== far.meanwhile.anchor) return true;
        flushSync(() => onSelect(extendTo(selection, ids, far.id, far.keep)));
      }
      return true;
    } catch (error) {
      wanted.current = undefined;
      showError('Select', error);
      return false;
    }
  }

  return (order: readonly string[], id: string, keep: boolean) => {
    const { selection, onSelect } = owner.current;
    if (selection.anchor === undefined || order.includes(selection.anchor)) {
      wanted.current = undefined;
      onSelect(extendTo(selection, order, id, keep));
      return;
    }
    const meanwhile = extendBeyondLoaded(selection, id);
    wanted.current = { id, keep, meanwhile };
    onSelect(meanwhile);
    if (asking.current !== undefined) return;
    const asked = ask().finally(() => {
      asking.current = undefined;
      if (pending.current === asked) pending.current = undefined;
    });
    asking.current = asked;
    pending.current = asked;
  };
}
