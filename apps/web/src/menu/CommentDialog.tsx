import { useState } from 'react';
import { AskDialog } from '../ui/AskDialog.tsx';

interface Props {
  readonly value: string;
  readonly onComment: (comment: string) => void;
  readonly onClose: () => void;
}

/** The small window that asks for a comment. */
export function CommentDialog({ value, onComment, onClose }: Props) {
  const [text, setText] = useState(value);
  function answer() {
    onComment(text);
    onClose();
  }
  return (
    <AskDialog title="Comment" onAnswer={answer} onClose={onClose}>
      <input type="text" aria-label="Comment" value={text} onChange={(event) => setText(event.target.value)} />
    </AskDialog>
  );
}
