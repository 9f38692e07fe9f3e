import { useState } from 'react';
import { AskDialog } from '../ui/AskDialog.tsx';

interface Props {
  /** The comment as it is; undefined when several items have different ones, which stay unless something is typed. */
  readonly value: string | undefined;
  readonly onComment: (comment: string) => void;
  readonly onClose: () => void;
}

/** The small window that asks for a comment. */
export function CommentDialog({ value, onComment, onClose }: Props) {
  const [text, setText] = useState(value);
  function answer() {
    if (text !== undefined && text !== value) onComment(text);
    onClose();
  }
  return (
    <AskDialog title="Comment" onAnswer={answer} onClose={onClose}>
      <textarea
        aria-label="Comment"
        rows={3}
        title="Enter takes the comment, Shift+Enter begins another line"
        value={text ?? ''}
        placeholder={value === undefined ? 'different comments' : undefined}
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
