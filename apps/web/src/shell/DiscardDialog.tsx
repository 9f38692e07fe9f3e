/** Confirmation before windows with unsaved changes are closed. Enter and Escape keep them open. */
import { ModalDialog } from '../ui/ModalDialog.tsx';

interface Props {
  /** Titles of the windows. */
  readonly titles: readonly string[];
  readonly onDiscard: () => void;
  readonly onClose: () => void;
}

export function DiscardDialog({ titles, onDiscard, onClose }: Props) {
  return (
    <ModalDialog title={`Discard the changes in ${together(titles)}?`} size="small" onClose={onClose}>
      <div className="ask-box">
        <p>They have not been applied.</p>
      </div>
      <footer className="modal-foot">
        <button type="button" className="button" onClick={onDiscard}>
          Discard
        </button>
        <button data-autofocus type="button" className="button button-primary" onClick={onClose}>
          Keep editing
        </button>
      </footer>
    </ModalDialog>
  );
}

/** `Identity`, `Identity and Clock`, `Identity, Clock and 3 more windows`. */
export function together(titles: readonly string[]): string {
  const [last = ''] = titles.slice(-1);
  if (titles.length < 2) return last;
  if (titles.length > MAX_TITLES + 1)
    return `${titles.slice(0, MAX_TITLES).join(', ')} and ${titles.length - MAX_TITLES} more windows`;
  return `${titles.slice(0, -1).join(', ')} and ${last}`;
}

/** Maximum number of windows that are named. */
const MAX_TITLES = 3;
