import { useState } from 'react';
import { AskDialog } from '../ui/AskDialog.tsx';

interface Props {
  /** The comment as it is; undefined when several items have different ones, which stay unless something is typed. */
  readonly value: string | undefined;
  /** Gives the items the comment; false when that failed, which has been said: what was typed stays then. */
  readonly onComment: (comment: string) => Promise<boolean>;
  readonly onClose: () => void;
}

/** The small window that asks for a comment. */
export function CommentDialog({ value, onComment, onClose }: Props) {
  // As it was when it was asked for: what happens to the items meanwhile does not change the question.
  const [before] = useState(value);
  const [text, setText] = useState(before);
  async function answer() {
    if (text === undefined || text === before || (await onComment(text))) onClose();
  }
  return (
    <AskDialog title="Comment" onAnswer={() => void answer()} onClose={onClose}>
      <textarea
        aria-label="Comment"
        rows={3}
        title="Enter takes the comment, Shift+Enter begins another line"
        value={text ?? ''}
        placeholder={before === undefined ? 'different comments' : undefined}
        onFocus={(event) => event.target.select()}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          event.stopPropagation();
          event.currentTarget.form?.requestSubmit();
        }}
      />
    </AskDialog>
  );
}

/** The comment that items have in common, or that of the only one; undefined when they differ. */
export function commonComment(comments: readonly (string | undefined)[]): string | undefined {
  const [first = '', ...others] = comments.map((comment) => comment ?? '');
  return others.every((comment) => comment === first) ? first : undefined;
}
