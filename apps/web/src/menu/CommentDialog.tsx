import type { Menu } from '@tollway/schema';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { LiveMenu } from '../api/live-menu.ts';
import { AskDialog } from '../ui/AskDialog.tsx';
import { FormError } from '../ui/FormError.tsx';
import { messageOf } from '../ui/message-of.ts';
import { notifyStaysOpen } from './form-toasts.ts';
import { type Comments, commentNow, commentsOf, rowsWith } from './selected-rows.ts';

/** State while the comments are being read, or could not be read. */
interface Reading {
  /** Reason why they could not be read; undefined while reading. */
  readonly failed: string | undefined;
  readonly again: () => void;
}

interface Props {
  /** State of reading the comments; until it is done nothing can be typed, as it would replace unseen comments. */
  readonly reading?: Reading | undefined;
  /** The present comment; undefined when several items have different ones, null when it is unknown. */
  readonly now: string | undefined | null;
  /** Sets the comment of the items. False when that failed, which has been reported: the typed text is kept. */
  readonly onComment: (comment: string) => Promise<boolean>;
  readonly onClose: () => void;
}

/** The small dialog for a comment. */
export function CommentDialog({ reading, now, onComment, onClose }: Props) {
  // The comment when the dialog was opened; later changes by others do not alter the proposed text.
  const start = useRef<{ readonly comment: string | undefined }>(undefined);
  if (reading === undefined) start.current ??= { comment: now ?? undefined };
  const before = start.current?.comment;
  const [written, setWritten] = useState<string>();
  const text = written ?? before;
  const [asked, setAsked] = useState(false);
  /** Comment before the last stored one, which the live feed may still contain; null when none was stored. */
  const [old, setOld] = useState<string | undefined | null>(null);
  const latest = useRef(text);
  latest.current = text;
  /** Comment that was sent and not yet confirmed. */
  const [sent, setSent] = useState<string>();
  const field = useRef<HTMLTextAreaElement>(null);
  const typed = text !== undefined && text !== before;
  const known = reading === undefined;
  useEffect(() => {
    if (known && document.activeElement === field.current) field.current?.select();
  }, [known]);
  async function answer() {
    if (reading !== undefined) {
      if (reading.failed !== undefined) reading.again();
      return;
    }
    if (sent !== undefined) return;
    if (!typed) return onClose();
    setSent(text);
    const stored = await onComment(text);
    setSent(undefined);
    if (!stored) return;
    if (latest.current === text) return onClose();
    // The dialog stays open, as text that was typed after the request is not stored.
    setOld(before);
    start.current = { comment: text };
    notifyStaysOpen();
  }
  return (
    <AskDialog
      title="Comment"
      onAnswer={() => void answer()}
      onClose={() => {
        if (typed && !asked) setAsked(true);
        else onClose();
      }}
    >
      <textarea
        ref={field}
        aria-label="Comment"
        rows={3}
        title="Enter takes the comment, Shift+Enter begins another line"
        value={text ?? ''}
        placeholder={known && before === undefined ? 'different comments' : undefined}
        readOnly={!known}
        aria-busy={!known}
        data-unsaved={typed || undefined}
        onFocus={(event) => event.target.select()}
        onChange={(event) => {
          setWritten(event.target.value);
          setAsked(false);
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          event.stopPropagation();
          event.currentTarget.form?.requestSubmit();
        }}
      />
      {reading !== undefined && <ReadingNote {...reading} />}
      {known &&
        now !== null &&
        now !== before &&
        now !== text &&
        now !== old &&
        now !== sent &&
        before !== undefined && (
          <p className="field-note" role="status">
            {conflictText(now)}
          </p>
        )}
      {asked && (
        <FormError>What was typed is not stored: OK stores it, Cancel or Escape once more discards it.</FormError>
      )}
    </AskDialog>
  );
}

function ReadingNote({ failed }: Reading) {
  if (failed === undefined) {
    return (
      <p className="field-note" role="status">
        Asking the router for the comments as they are now.
      </p>
    );
  }
  return (
    <FormError>
      The comments as they are now are not known: {failed}{' '}
      <button type="submit" className="button">
        Try Again
      </button>
    </FormError>
  );
}

/** The dialog for the comments of several rows of a list, which other users may change meanwhile. */
export function RowsCommentDialog({
  menu,
  live,
  ids,
  ...rest
}: Omit<Props, 'now' | 'reading'> & { readonly menu: Menu; readonly live: LiveMenu; readonly ids: readonly string[] }) {
  // The comments of loaded rows are known at once.
  const [read, setRead] = useState<Comments | undefined>(() => {
    const loaded = ids.map((id) => live.row(id)).filter((row) => row !== undefined);
    return loaded.length === ids.length ? commentsOf(loaded) : undefined;
  });
  const [failed, setFailed] = useState<string>();
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt asks anew
  useEffect(() => {
    if (read !== undefined) return;
    let closed = false;
    rowsWith(menu, live, ids, ['comment'])
      .then((rows) => {
        if (closed) return;
        if (rows.length > 0) setRead(commentsOf(rows));
        else setFailed('What was selected does not exist any more.');
      })
      .catch((error: unknown) => !closed && setFailed(messageOf(error)));
    return () => {
      closed = true;
    };
  }, [attempt]);
  const now = useSyncExternalStore(
    (changed) => live.subscribe(changed),
    () => (read === undefined ? null : commentNow(live, ids, read)),
  );
  const again = () => {
    setFailed(undefined);
    setAttempt(attempt + 1);
  };
  return <CommentDialog now={now} reading={read === undefined ? { failed, again } : undefined} {...rest} />;
}

/** Note that other users changed the comments while one was being typed. */
function conflictText(now: string | undefined): string {
  if (now === undefined) return 'Somebody has given some of the items another comment meanwhile; OK replaces it.';
  return now === ''
    ? 'Somebody has removed the comment meanwhile; OK sets it.'
    : `Somebody has made it ${now} meanwhile; OK replaces that.`;
}
