/** Asks before items are removed. Enter and Escape keep them. */
import { thousands } from '@tollway/schema';
import { useEffect, useRef } from 'react';
import { ModalDialog } from '../ui/ModalDialog.tsx';
import type { RemoveQuestion } from './remove-question.ts';

interface Props {
  readonly question: RemoveQuestion;
  readonly onRemove: () => void;
  readonly onClose: () => void;
}

export function RemoveDialog({ question, onRemove, onClose }: Props) {
  const cancel = useRef<HTMLButtonElement>(null);
  useEffect(() => cancel.current?.focus(), []);
  const { ids, title, names, filtered, final } = question;
  return (
    <ModalDialog title={title} size="small" onClose={onClose}>
      <div className="ask-box">
        <p>{names}</p>
        {filtered !== '' && <p>{filtered}</p>}
        {final !== '' && <p>{final}</p>}
      </div>
      <footer className="modal-foot">
        <button
          type="button"
          className="button"
          onClick={() => {
            onClose();
            onRemove();
          }}
        >
          Remove {thousands(String(ids.length))}
        </button>
        <button ref={cancel} type="button" className="button button-primary" onClick={onClose}>
          Cancel
        </button>
      </footer>
    </ModalDialog>
  );
}
