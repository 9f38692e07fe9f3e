/** Messages about changes of this page, and their undo: from the message, by key, and from the history. */
import { useSyncExternalStore } from 'react';
import { pendingSettled } from '../api/pending.ts';
import { RequestError, Unanswered } from '../api/rest.ts';
import { undoneBy, undoRevision } from '../api/revisions.ts';
import { messageOf } from '../ui/message-of.ts';
import { dismissKey, showToast } from '../ui/toasts.ts';
import { UndoStack } from './undo-stack.ts';

const stack = new UndoStack();

/** Key of the message with Undo: only the newest change offers it; older ones are in the history. */
const KEY = 'change';

/** Text of the last action, if it cannot be undone: Ctrl+Z must not undo an earlier one instead. */
let final: string | undefined;

/** Clears the changes of this page, e.g. when another user logs in. */
export function clearUndoStack(): void {
  stack.clear();
  final = undefined;
  dismissKey(KEY);
}

/**
 * Shows a message about a change, with a button to undo it.
 * @param revision revision of the change; undefined for a change outside of the configuration, which cannot be undone
 * @param stored text after the undo, if only a part of the change is in the revision
 */
export function notifyChange(text: string, revision: number | undefined, stored = text): void {
  final = revision === undefined ? text : undefined;
  if (revision === undefined) {
    showToast({ kind: 'info', text });
    return;
  }
  stack.push({ revision, text: stored });
  offerUndo(text, revision, stored);
}

/**
 * Waits for a change. If there is no response, it is recorded as a change that may have been made.
 * @param text description of the attempt: `Remove 3 items from Filter Rules`
 */
export async function trackChange<T>(text: string, change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (error) {
    if (error instanceof Unanswered) stack.pushUnconfirmed(text);
    throw error;
  }
}

function offerUndo(text: string, revision: number, stored: string): void {
  showToast({
    kind: 'info',
    key: KEY,
    text,
    action: { label: 'Undo', run: () => void revert(revision, stored, 'Undone') },
  });
}

/** Undos run one after the other, as each depends on the rows that the previous one left. */
let queue: Promise<unknown> = Promise.resolve();

/** Undoes a revision. Returns the revision that undid it. */
type Undo = (revision: number) => Promise<number | undefined>;

/**
 * Undoes a revision, and offers to redo it. True on success; otherwise it remains the next one to undo.
 * @param undo sends the request
 */
export function revert(
  revision: number,
  text: string,
  done: 'Undone' | 'Redone',
  undo: Undo = undoRevision,
): Promise<boolean> {
  const next = queue.then(async () => {
    try {
      const by = await undoOnce(revision, undo);
      stack.recordUndo(revision, by, text);
      const news = `${done}: ${text}`;
      if (by === undefined) showToast({ kind: 'info', key: KEY, text: news });
      else if (done === 'Redone') offerUndo(news, by, text);
      else {
        const action = { label: 'Redo', run: () => void revert(by, text, 'Redone') };
        showToast({ kind: 'info', key: KEY, text: news, action });
      }
      return true;
    } catch (error) {
      stack.recordFailure(revision);
      notifyFailure(revision, text, done, error);
      return false;
    }
  });
  queue = next;
  return next;
}

/** Undoes a revision, unless an attempt that seemed to fail has already done so: its response may have been lost. */
async function undoOnce(revision: number, undo: Undo): Promise<number | undefined> {
  const before = stack.hasFailed(revision) ? await undoneBy(revision) : undefined;
  return before ?? undo(revision);
}

const subscribe = (listener: () => void) => stack.subscribe(listener);

/** Whether a revision is a change of this page that has neither been undone nor skipped. */
export function useIsUndoable(revision: number | undefined): boolean {
  return useSyncExternalStore(subscribe, () => revision !== undefined && stack.has(revision));
}

/** Shows why a revision was not undone. The message remains, as the cause may be temporary. */
function notifyFailure(revision: number, text: string, done: 'Undone' | 'Redone', error: unknown): void {
  const lost = error instanceof RequestError && error.status === 0;
  const why = lost ? UNDO_LOST : messageOf(error);
  const refused = error instanceof RequestError && REFUSALS.has(error.status) && stack.has(revision);
  showToast({
    kind: 'error',
    key: KEY,
    text: `${lost ? 'Perhaps not' : 'Not'} ${done.toLowerCase()}: ${text.replace(/\.$/, '')}: ${why}`,
    stays: true,
    action: { label: 'Try Again', run: () => void revert(revision, text, done) },
    // A refused undo must not block undoing older revisions.
    ...(refused && { instead: { label: 'Skip', run: () => skip(revision, text, done) } }),
  });
}

/** Text after a lost response. Another attempt first checks the history: {@link undoOnce}. */
const UNDO_LOST = 'no answer came, so it is not known. Try Again looks first whether it was done.';

/** Status codes with which the router refuses an undo after it has examined the revision. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 404]);

/** Drops a change from the stack without undoing it, and shows the change that is next. */
function skip(revision: number, text: string, done: 'Undone' | 'Redone'): void {
  stack.drop(revision);
  const [next, what] = done === 'Undone' ? [stack.last, 'undo'] : [stack.lastUndone, 'redo'];
  const then = next === undefined ? `Nothing else is left to ${what} here.` : `Next to ${what}: ${next.text}`;
  showToast({ kind: 'info', key: KEY, text: `Skipped: ${text} ${then}` });
}

/** Resolves when the commands of earlier keys have finished: they determine the last change for the next key. */
let keys: Promise<unknown> = Promise.resolve();

/** Undoes the last change of this page (Ctrl+Z), or redoes the last undone one (Ctrl+Y). */
export function undoByKey(what: 'undo' | 'redo'): void {
  // The key applies to changes made before it, including those without a response so far.
  const before = pendingSettled();
  keys = keys.then(async () => {
    await before;
    await queue;
    const change = what === 'undo' ? stack.last : stack.lastUndone;
    if (change !== undefined && change.revision === undefined) {
      stack.dismiss(change);
      notifyNotUndone(
        `Not undone, as no answer came and it is not known whether it was done: ${change.text}. Look for it.`,
      );
      return undefined;
    }
    if (what === 'undo' && final !== undefined) {
      const text = `Not undone, as there is no way back from it: ${final}`;
      final = undefined;
      notifyNotUndone(text);
      return undefined;
    }
    if (change !== undefined) return revert(change.revision, change.text, what === 'undo' ? 'Undone' : 'Redone');
    showToast({ kind: 'info', key: KEY, text: nothingTo(what) });
    return undefined;
  });
}

/** Shows why the newest change cannot be undone, and what the next Ctrl+Z undoes. */
function notifyNotUndone(why: string): void {
  const next = stack.last === undefined ? '' : ` Next to undo: ${stack.last.text}`;
  showToast({ kind: 'info', key: KEY, text: why + next });
}

function nothingTo(what: 'undo' | 'redo'): string {
  if (what === 'redo') return 'Nothing was undone here that could be done again.';
  const state =
    stack.lastUndone === undefined
      ? 'Nothing was changed here since this page was loaded that can be undone.'
      : 'Nothing is left to undo of what was changed here since this page was loaded.';
  return `${state} System ▸ History has older changes.`;
}

/** Command of Ctrl+Z and Ctrl+Y outside of text fields, which have their own undo. */
export function undoKey(event: KeyboardEvent): 'undo' | 'redo' | undefined {
  const { key, ctrlKey, metaKey, altKey, shiftKey, target } = event;
  if (!(ctrlKey || metaKey) || altKey) return undefined;
  const letter = key.toLowerCase();
  if (letter !== 'z' && (letter !== 'y' || shiftKey)) return undefined;
  const typing =
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input:not([type="checkbox"], [type="radio"]), select, textarea'));
  if (typing) return undefined;
  return letter === 'z' && !shiftKey ? 'undo' : 'redo';
}
