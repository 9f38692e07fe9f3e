/** A small dialog for one value. Enter confirms it. */
import type { ReactNode } from 'react';
import { ModalDialog } from './ModalDialog.tsx';

interface Props {
  readonly title: string;
  readonly onAnswer: () => void;
  readonly onClose: () => void;
  /** The control, and the error of its value. */
  readonly children: ReactNode;
}

export function AskDialog({ title, onAnswer, onClose, children }: Props) {
  return (
    <ModalDialog title={title} size="small" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          event.stopPropagation();
          onAnswer();
        }}
      >
        <div className="ask-box">{children}</div>
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
