/** Asks before a window is closed whose changes are not stored. Enter and Escape keep it open. */
import { useEffect, useRef } from 'react';
import { ModalDialog } from '../ui/ModalDialog.tsx';

interface Props {
  /** Of the window. */
  readonly title: string;
  readonly onDiscard: () => void;
  readonly onClose: () => void;
}

export function DiscardDialog({ title, onDiscard, onClose }: Props) {
  const keep = useRef<HTMLButtonElement>(null);
  useEffect(() => keep.current?.focus(), []);
  return (
    <ModalDialog title={`Discard the changes in ${title}?`} size="small" onClose={onClose}>
      <div className="ask-box">
        <p>They have not been applied.</p>
      </div>
      <footer className="modal-foot">
        <button type="button" className="button" onClick={onDiscard}>
          Discard
        </button>
        <button ref={keep} type="button" className="button button-primary" onClick={onClose}>
          Keep editing
        </button>
      </footer>
    </ModalDialog>
  );
}
