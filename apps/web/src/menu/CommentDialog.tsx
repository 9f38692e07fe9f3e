import { useState } from 'react';
import { ModalDialog } from '../ui/ModalDialog.tsx';

interface Props {
  readonly value: string;
  readonly onComment: (comment: string) => void;
  readonly onClose: () => void;
}

/** The small window that asks for a comment. Enter takes it. */
export function CommentDialog({ value, onComment, onClose }: Props) {
  const [text, setText] = useState(value);
  return (
    <ModalDialog title="Comment" size="small" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          event.stopPropagation();
          onComment(text);
          onClose();
        }}
      >
        <div className="comment-box">
          <input type="text" aria-label="Comment" value={text} onChange={(event) => setText(event.target.value)} />
        </div>
        <footer className="modal-foot">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button button-primary">
            OK
          </button>
        </footer>
      </form>
    </ModalDialog>
  );
}
