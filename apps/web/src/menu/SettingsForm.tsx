/**
 * The window of a settings or status menu: a form with live values, and the buttons at the same place as in item
 * dialogs.
 */
import type { Menu } from '@tollway/schema';
import { useState } from 'react';
import { setSettings } from '../api/commands.ts';
import { useStale } from '../api/connection.ts';
import type { Row } from '../api/row.ts';
import { FormError } from '../ui/FormError.tsx';
import { loadingText } from '../ui/loading-text.ts';
import { FormBox } from './FormBox.tsx';
import { FormFields } from './FormFields.tsx';
import { notifySending, notifyStaysOpen } from './form-toasts.ts';
import { UnsavedNote } from './UnsavedNote.tsx';
import { notifyChange, trackChange } from './undo.ts';
import { useForm, withoutEdits } from './use-form.ts';
import { useItem } from './use-item.ts';

interface Props {
  readonly menu: Menu;
  /** Closes the window; without it there are no buttons to close it. */
  readonly onClose?: () => void;
  /** Requests to close it, with a confirmation if it has unsaved changes. */
  readonly onCloseRequest?: () => void;
}

export function SettingsForm({ menu, onClose, onCloseRequest }: Props) {
  const item = useItem(menu, undefined);
  const stale = useStale();
  if (item.state !== 'here') {
    return (
      <div role="group" className="settings" aria-label={menu.title} tabIndex={0}>
        <p className="form-note">{item.state === 'loading' ? loadingText(stale) : item.why}</p>
      </div>
    );
  }
  return <Body menu={menu} row={item.row} onClose={onClose} onCloseRequest={onCloseRequest} />;
}

interface BodyProps {
  readonly menu: Menu;
  readonly row: Row;
  readonly onClose: (() => void) | undefined;
  readonly onCloseRequest: (() => void) | undefined;
}

function Body({ menu, row, onClose, onCloseRequest }: BodyProps) {
  const form = useForm(menu, row, false);
  const { base } = form;
  const [applied, setApplied] = useState(false);
  const apply = async (body: Readonly<Record<string, string>>) => {
    const revision = await trackChange(`Change ${menu.title}`, setSettings(menu.path, body));
    if (revision !== undefined) notifyChange(`Changed ${menu.title}.`, revision);
    return undefined;
  };
  const writable = menu.commands.has('set');
  const send = () => form.send(apply);

  async function ok() {
    const sent = await send();
    if (sent === 'taken') onClose?.();
    else if (sent === 'typed-since' && onClose !== undefined) notifyStaysOpen();
  }

  const fields = (
    <>
      {!writable && <UnsavedNote menu={menu} base={base} edits={form.edits} />}
      <FormFields
        menu={menu}
        base={base}
        form={writable ? form : withoutEdits(form)}
        isNew={false}
        readOnly={!writable}
        spread
      />
      <FormError>{form.errors['']}</FormError>
    </>
  );
  if (!writable) {
    return (
      <div role="group" className="settings" aria-label={menu.title} tabIndex={0}>
        {fields}
      </div>
    );
  }
  return (
    <FormBox
      label={menu.title}
      form={form}
      onEscape={
        // A request that was already sent cannot be reset.
        form.dirty ? () => (form.busy ? notifySending() : form.reset()) : undefined
      }
      onSubmit={() => void ok()}
      onChange={() => setApplied(false)}
    >
      <div role="group" className="form-main settings" aria-label="Settings" tabIndex={0}>
        {fields}
      </div>
      <div className="form-buttons">
        <button type="submit" className="button button-primary" aria-disabled={form.busy}>
          OK
        </button>
        {onClose !== undefined && (
          <button
            type="button"
            className="button"
            onClick={() => {
              if (form.editedSinceSend && onCloseRequest !== undefined) return onCloseRequest();
              form.reset();
              onClose();
            }}
          >
            Cancel
          </button>
        )}
        <button
          type="button"
          className="button"
          aria-disabled={form.busy || !form.dirty}
          onClick={() => form.dirty && void send().then((sent) => setApplied(sent === 'taken'))}
        >
          Apply
        </button>
        <span role="status" className="form-applied">
          {applied && !form.dirty ? 'Applied.' : ''}
        </span>
      </div>
    </FormBox>
  );
}
