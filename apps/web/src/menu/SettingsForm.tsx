/** The window of a settings or status menu: one form, live values, Apply. */
import type { Menu } from '@tollway/schema';
import { useState } from 'react';
import { setSettings } from '../api/commands.ts';
import type { Row } from '../api/row.ts';
import { FormFields } from './FormFields.tsx';
import { tellChange } from './undo.ts';
import { useForm } from './use-form.ts';
import { useItem } from './use-item.ts';

export function SettingsForm({ menu }: { readonly menu: Menu }) {
  const item = useItem(menu, undefined);
  if (item.state !== 'here') {
    return (
      <div role="group" className="settings" aria-label={menu.title} tabIndex={0}>
        <p className="form-note">{item.state === 'loading' ? 'Loading' : item.why}</p>
      </div>
    );
  }
  return <Body menu={menu} base={item.row} />;
}

function Body({ menu, base }: { readonly menu: Menu; readonly base: Row }) {
  const form = useForm(menu, base, false);
  const [applied, setApplied] = useState(false);
  const apply = async (body: Readonly<Record<string, string>>) => {
    const revision = await setSettings(menu.path, body);
    if (revision !== undefined) tellChange(`Changed ${menu.title}.`, revision);
  };
  const writable = menu.commands.includes('set');
  return (
    <div role="group" className="settings" aria-label={menu.title} tabIndex={0}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void form.send(apply).then(setApplied);
        }}
        onChange={() => setApplied(false)}
      >
        <FormFields menu={menu} base={base} form={form} isNew={false} readOnly={!writable} spread />
        {form.errors[''] !== undefined && (
          <p className="form-error" role="alert">
            {form.errors['']}
          </p>
        )}
        {writable && (
          <footer className="settings-foot">
            <button type="submit" className="button button-primary" disabled={form.busy || !form.dirty}>
              Apply
            </button>
            <button type="button" className="button" disabled={!form.dirty} onClick={form.reset}>
              Reset
            </button>
            <span role="status">{applied && !form.dirty ? 'Applied.' : ''}</span>
          </footer>
        )}
      </form>
    </div>
  );
}
