import { useRef, useState, useSyncExternalStore } from 'react';
import type { LiveMenu } from '../api/live-menu.ts';
import { AskDialog } from '../ui/AskDialog.tsx';
import { tellStaysOpen } from './use-form.ts';

interface Props {
  /** The comment as it is now; undefined when several items have different ones, null when it is not known. */
  readonly now: string | undefined | null;
  /** Gives the items the comment; false when that failed, which has been said: what was typed stays then. */
  readonly onComment: (comment: string) => Promise<boolean>;
  readonly onClose: () => void;
}

/** The small window that asks for a comment. */
export function CommentDialog({ now, onComment, onClose }: Props) {
  // As it was when it was asked for: what others do meanwhile does not change the question.
  const [before, setBefore] = useState(now ?? undefined);
  const [text, setText] = useState(before);
  const [asked, setAsked] = useState(false);
  /** What the news still call it when another one has been stored; null when none has. */
  const [old, setOld] = useState<string | undefined | null>(null);
  const latest = useRef(text);
  latest.current = text;
  const sending = useRef(false);
  const typed = text !== undefined && text !== before;
  async function answer() {
    if (sending.current) return;
    if (!typed) return onClose();
    sending.current = true;
    const stored = await onComment(text);
    sending.current = false;
    if (!stored) return;
    if (latest.current === text) return onClose();
    // What was typed since is not stored.
    setOld(before);
    setBefore(text);
    tellStaysOpen();
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
        aria-label="Comment"
        rows={3}
        title="Enter takes the comment, Shift+Enter begins another line"
        value={text ?? ''}
        placeholder={before === undefined ? 'different comments' : undefined}
        data-unsaved={typed || undefined}
        onFocus={(event) => event.target.select()}
        onChange={(event) => {
          setText(event.target.value);
          setAsked(false);
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          event.stopPropagation();
          event.currentTarget.form?.requestSubmit();
        }}
      />
      {now !== null && now !== before && now !== text && now !== old && before !== undefined && (
        <p className="field-note" role="status">
          {overtakenText(now)}
        </p>
      )}
      {asked && (
        <p className="form-error" role="alert">
          What was typed is not stored: OK stores it, Cancel or Escape once more discards it.
        </p>
      )}
    </AskDialog>
  );
}

/** The same for rows of a list, whose comments others may change meanwhile. */
export function RowsCommentDialog({
  live,
  ids,
  ...rest
}: Omit<Props, 'now'> & { readonly live: LiveMenu; readonly ids: readonly string[] }) {
  const now = useSyncExternalStore(
    (changed) => live.subscribe(changed),
    () => commentOf(live, ids),
  );
  return <CommentDialog now={now} {...rest} />;
}

/** What others made of the comments while one was being typed. */
function overtakenText(now: string | undefined): string {
  if (now === undefined) return 'Somebody has given some of the items another comment meanwhile; OK replaces it.';
  return now === ''
    ? 'Somebody has removed the comment meanwhile; OK sets it.'
    : `Somebody has made it ${now} meanwhile; OK replaces that.`;
}

/** What those items that are loaded have in common; undefined when their comments differ, null when none is loaded. */
function commentOf(live: Pick<LiveMenu, 'row'>, ids: readonly string[]): string | undefined | null {
  const rows = ids.map((id) => live.row(id)).filter((row) => row !== undefined);
  return rows.length === 0 ? null : commonComment(rows.map(({ comment }) => comment));
}

/** The comment that items have in common, or that of the only one; undefined when they differ. */
export function commonComment(comments: readonly (string | undefined)[]): string | undefined {
  const [first = '', ...others] = comments.map((comment) => comment ?? '');
  return others.every((comment) => comment === first) ? first : undefined;
}
