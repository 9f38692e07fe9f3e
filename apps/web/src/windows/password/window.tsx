/** Window in which users change their own password; passwords of other users are changed in Users. */
import { changePassword } from '../../api/session.ts';
import { FormBox } from '../../menu/FormBox.tsx';
import { FormFields } from '../../menu/FormFields.tsx';
import { notifyStaysOpen } from '../../menu/form-toasts.ts';
import { useForm } from '../../menu/use-form.ts';
import { FormError } from '../../ui/FormError.tsx';
import { showToast } from '../../ui/toasts.ts';
import type { MenuWindowProps } from '../window-props.ts';

export default function PasswordWindow({ menu, onClose, onCloseRequest }: MenuWindowProps) {
  const form = useForm(menu, {}, true);

  async function send() {
    const sent = await form.send(async (values) => {
      await changePassword(values);
      return undefined;
    });
    if (sent === 'refused') return;
    showToast({ kind: 'info', text: 'Your password is changed. Your sessions in other browsers have ended.' });
    if (sent === 'taken') onClose();
    else notifyStaysOpen();
  }

  return (
    <FormBox label={menu.title} form={form} onEscape={onCloseRequest} onSubmit={() => void send()}>
      <div className="form-main">
        <FormFields menu={menu} base={{}} form={form} isNew readOnly={false} />
        <FormError>{form.errors['']}</FormError>
      </div>
      <div className="form-buttons">
        <button type="submit" className="button button-primary" aria-disabled={form.busy}>
          Change
        </button>
        <button
          type="button"
          className="button"
          onClick={() => {
            if (form.editedSinceSend) return onCloseRequest();
            form.reset();
            onClose();
          }}
        >
          Cancel
        </button>
      </div>
    </FormBox>
  );
}
