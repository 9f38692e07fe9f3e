/** The dialog of one item. The frame around it (a modal dialog, a window) is given by the owner. */
import type { Menu } from '@tollway/schema';
import { type ComponentType, type ReactNode, useEffect, useState } from 'react';
import { add, print, run, set } from '../api/commands.ts';
import type { Row } from '../api/row.ts';
import { showError } from '../ui/toasts.ts';
import { actsOnAll, commandLabel, removeItems, runOn, specialCommands } from './actions.ts';
import { CommentDialog } from './CommentDialog.tsx';
import { isSet, reason } from './cells/text.ts';
import { FormFields, type TabExtra } from './FormFields.tsx';
import { copyOf, type Edits, proposals } from './form-model.ts';
import { itemTitle, lockedReason, newTitle } from './item.ts';
import { useForm } from './use-form.ts';
import { useItem } from './use-item.ts';

export type Frame = ComponentType<{
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}>;

interface Common {
  readonly menu: Menu;
  readonly Frame: Frame;
  readonly extras?: Readonly<Record<string, TabExtra>> | undefined;
  readonly onClose: () => void;
  /** Opens the dialog of a new item that is filled from this one. */
  readonly onCopy: (id: string) => void;
  /** The item has been added; its dialog may be shown from now on. */
  readonly onAdded: (id: string) => void;
}

/** Dialog of an item that exists. */
export function ItemForm(props: Common & { readonly id: string }) {
  const { menu, Frame, id, onClose } = props;
  const item = useItem(menu, id);
  // The frame comes with its content: an empty one would flash and take the focus.
  if (item.state === 'loading') return null;
  if (item.state === 'here') {
    return (
      <Frame title={itemTitle(menu, item.row)} onClose={onClose}>
        <Body {...props} base={item.row} isNew={false} initial={{}} />
      </Frame>
    );
  }
  return (
    <Frame title={menu.singular} onClose={onClose}>
      <p className="form-note">{item.why}</p>
    </Frame>
  );
}

/** Dialog of an item that does not exist yet, empty or filled from the item `copy`. */
export function NewItemForm(props: Common & { readonly copy: string | undefined }) {
  const { menu, Frame, copy, onClose } = props;
  const [initial, setInitial] = useState<Edits | undefined>(copy === undefined ? proposals(menu) : undefined);
  useEffect(() => {
    if (copy === undefined) return;
    print(menu.path, { '.id': copy })
      .then(([row]) => setInitial(row === undefined ? {} : copyOf(menu, row)))
      .catch((error: unknown) => {
        showError('Copy', error);
        setInitial({});
      });
  }, [menu, copy]);
  if (initial === undefined) return null;
  return (
    <Frame title={newTitle(menu)} onClose={onClose}>
      <Body {...props} base={EMPTY} isNew initial={initial} />
    </Frame>
  );
}

const EMPTY: Row = {};

interface BodyProps extends Common {
  readonly base: Row;
  readonly isNew: boolean;
  readonly initial: Edits;
}

function Body({ menu, extras, base, isNew, initial, onClose, onCopy, onAdded }: BodyProps) {
  const form = useForm(menu, base, isNew, initial);
  const [commenting, setCommenting] = useState(false);
  const id = base['.id'] ?? '';
  const locked = isNew ? undefined : lockedReason(menu, base);
  const has = (command: string) => menu.commands.includes(command);
  const disabled = isNew ? form.edits.disabled === 'true' : isSet(base, 'disabled');
  const comment = isNew ? (form.edits.comment ?? '') : (base.comment ?? '');

  /** Sends the form; gives the id of the item, or undefined when the server refused it. */
  async function save(): Promise<string | undefined> {
    let saved = id;
    const taken = await form.send(async (body) => {
      const row = isNew ? await add(menu.path, body) : await set(menu.path, id, body);
      saved = row['.id'] ?? id;
    });
    return taken ? saved : undefined;
  }

  async function ok() {
    if (locked !== undefined || (await save()) !== undefined) onClose();
  }

  async function apply() {
    const saved = await save();
    if (isNew && saved !== undefined && saved !== '') onAdded(saved);
  }

  async function remove() {
    const rows = await print(menu.path).catch(() => []);
    const order = menu.stored ? rows.map((row) => row['.id'] ?? '') : [];
    if (await removeItems(menu, [base], [id], order)) onClose();
  }

  const why = reason(base);
  return (
    <>
      <form
        className="item-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void ok();
        }}
      >
        <div className="form-main">
          {comment !== '' && <p className="form-comment">;;; {comment}</p>}
          {why !== undefined && <p className="form-reason">{why}</p>}
          {locked !== undefined && menu.commands.includes('set') && <p className="form-note">Read-only: {locked}.</p>}
          <FormFields
            menu={menu}
            base={base}
            form={form}
            isNew={isNew}
            readOnly={locked !== undefined}
            extras={extras}
          />
          {form.errors[''] !== undefined && (
            <p className="form-error" role="alert">
              {form.errors['']}
            </p>
          )}
        </div>
        <div className="form-buttons">
          <button type="submit" className="button button-primary" disabled={form.busy}>
            OK
          </button>
          {locked === undefined && (
            <>
              <button type="button" className="button" onClick={onClose}>
                Cancel
              </button>
              <button type="button" className="button" disabled={form.busy} onClick={() => void apply()}>
                Apply
              </button>
              <hr />
            </>
          )}
          {has('disable') && menu.props.disabled !== undefined && (
            <button
              type="button"
              className="button"
              disabled={locked !== undefined}
              onClick={() => {
                if (isNew) form.change('disabled', disabled ? undefined : 'true');
                else void runOn(menu, disabled ? 'enable' : 'disable', [id]);
              }}
            >
              {disabled ? 'Enable' : 'Disable'}
            </button>
          )}
          {has('comment') && (
            <button
              type="button"
              className="button"
              disabled={locked !== undefined}
              onClick={() => setCommenting(true)}
            >
              Comment
            </button>
          )}
          {!isNew && has('add') && (
            <button type="button" className="button" onClick={() => onCopy(id)}>
              Copy
            </button>
          )}
          {!isNew && has('remove') && (
            <button
              type="button"
              className="button"
              disabled={locked !== undefined && menu.commands.includes('set')}
              onClick={() => void remove()}
            >
              Remove
            </button>
          )}
          {!isNew &&
            specialCommands(menu)
              .filter((command) => !actsOnAll(command))
              .map((command) => (
                <button key={command} type="button" className="button" onClick={() => void runOn(menu, command, [id])}>
                  {commandLabel(command)}
                </button>
              ))}
        </div>
        {!isNew && menu.flags.length > 0 && (
          <footer className="form-status">
            {menu.flags.map((flag) => (
              <span key={flag.prop} className={isSet(base, flag.prop) ? 'state state-on' : 'state'}>
                {isSet(base, flag.prop) ? flag.title : ''}
              </span>
            ))}
          </footer>
        )}
      </form>
      {commenting && (
        <CommentDialog
          value={comment}
          onComment={(text) => {
            if (isNew) form.change('comment', text === '' ? undefined : text);
            else
              run(menu.path, 'comment', [id], { comment: text }).catch((error: unknown) => showError('Comment', error));
          }}
          onClose={() => setCommenting(false)}
        />
      )}
    </>
  );
}
