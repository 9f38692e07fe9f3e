/** Confirmation before items are removed or disabled. Enter and Escape cancel. */
import { ModalDialog } from '../ui/ModalDialog.tsx';
import { amount } from './item.ts';
import type { RemoveConfirmation } from './remove-confirmation.ts';

interface Props {
  readonly confirmation: RemoveConfirmation;
  /** Called when the user confirms. */
  readonly onAnswer: () => void;
  readonly onClose: () => void;
}

export function RemoveDialog({ confirmation, onAnswer, onClose }: Props) {
  const { command, ids, title, names, filtered, final, self } = confirmation;
  return (
    <ModalDialog title={title} size="small" onClose={onClose}>
      <div className="ask-box">
        <p>{names}</p>
        {filtered !== '' && <p>{filtered}</p>}
        {final !== '' && <p>{final}</p>}
        {self !== '' && <p>{self}</p>}
      </div>
      <footer className="modal-foot">
        <button
          type="button"
          className="button"
          onClick={() => {
            onClose();
            onAnswer();
          }}
        >
          {command === 'remove' ? 'Remove' : 'Disable'} {amount(ids.length)}
        </button>
        <button data-autofocus type="button" className="button button-primary" onClick={onClose}>
          Cancel
        </button>
      </footer>
    </ModalDialog>
  );
}
