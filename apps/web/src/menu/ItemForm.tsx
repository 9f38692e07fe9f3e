/** The dialog of one item. The frame around it (a modal dialog, a window) is given by the owner. */
import type { Menu } from '@tollway/schema';
import { type ComponentType, type ReactNode, useEffect, useRef, useState } from 'react';
import { add, print, set } from '../api/commands.ts';
import { useStale } from '../api/connection.ts';
import { RequestError } from '../api/rest.ts';
import type { Row } from '../api/row.ts';
import { loggedIn } from '../api/session.ts';
import { showError } from '../ui/toasts.ts';
import { removeItems, runOn } from './actions.ts';
import { announceAdded } from './added-rows.ts';
import { CommentDialog } from './CommentDialog.tsx';
import { isSet, reason } from './cells/text.ts';
import { FormButtons } from './FormButtons.tsx';
import { FormFields } from './FormFields.tsx';
import { FormStatus } from './FormStatus.tsx';
import { copiedEdits, copyOf, type Edits, proposals, valuesOf, withEdits } from './form-model.ts';
import type { TabExtras } from './form-tabs.ts';
import { itemTitle, lockedReason, newTitle, removalLock } from './item.ts';
import { RemoveDialog } from './RemoveDialog.tsx';
import { disableQuestion, type RemoveQuestion, removeQuestion } from './remove-question.ts';
import { loadingText } from './TableFooter.tsx';
import { UnsavedNote } from './UnsavedNote.tsx';
import { tellChange } from './undo.ts';
import { orphaned, untouched, useForm } from './use-form.ts';
import { useItem } from './use-item.ts';

export type Frame = ComponentType<{
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}>;

interface Common {
  readonly menu: Menu;
  readonly Frame: Frame;
  readonly extras?: TabExtras | undefined;
  readonly onClose: () => void;
  /** Opens the dialog of a new item that is filled from this one, with what was changed in its form. */
  readonly onCopy: (id: string, values: Readonly<Record<string, string>>) => void;
  /** The item has been added; its dialog may be shown from now on. */
  readonly onAdded: (id: string) => void;
}

/** Dialog of an item that exists. */
export function ItemForm(props: Common & { readonly id: string }) {
  const { menu, Frame, id, onClose } = props;
  const item = useItem(menu, id);
  const stale = useStale();
  const [last, setLast] = useState<Row>();
  const [again, setAgain] = useState<Edits>();
  const row = item.state === 'here' ? item.row : undefined;
  // Of an item that somebody removes what was typed stays, and can be added again.
  if (row !== undefined && row !== last) setLast(row);
  if (again !== undefined) {
    return (
      // A frame of its own takes the focus, whose button is gone.
      <Frame key="again" title={newTitle(menu)} onClose={onClose}>
        <Body {...props} base={EMPTY} isNew initial={again} isTyped />
      </Frame>
    );
  }
  const shown = row ?? (item.state === 'missing' && !item.removed ? undefined : last);
  if (shown !== undefined) {
    return (
      <Frame title={itemTitle(menu, shown)} onClose={onClose}>
        <Body
          {...props}
          base={shown}
          isNew={false}
          initial={{}}
          gone={item.state === 'missing' ? item.why : undefined}
          onAddAgain={setAgain}
        />
      </Frame>
    );
  }
  // The frame comes with its content: an empty one would flash and take the focus.
  if (item.state !== 'missing') return stale ? <p className="form-note">{loadingText(true)}</p> : null;
  return (
    <Frame title={menu.singular} onClose={onClose}>
      <p className="form-note">{item.why}</p>
    </Frame>
  );
}

interface NewProps extends Common {
  readonly copy: string | undefined;
  /** Id of the item that the new one goes before; to the end of an ordered list without one. */
  readonly before?: string | undefined;
  /** Id of the item that it goes after. */
  readonly after?: string | undefined;
  /** Values that it starts with, beside those that are proposed. */
  readonly values?: Readonly<Record<string, string>> | undefined;
}

/** Dialog of an item that does not exist yet, empty or filled from the item `copy`. */
export function NewItemForm(props: NewProps) {
  const { menu, Frame, copy, values, onClose } = props;
  const [start, setStart] = useState<Edits | undefined>(copy === undefined ? proposals(menu) : undefined);
  useEffect(() => {
    if (copy === undefined) return;
    print(menu.path, { '.id': copy })
      .then(([row]) => setStart(row === undefined ? {} : copyOf(menu, row)))
      .catch((error: unknown) => {
        showError('Copy', error);
        setStart({});
      });
  }, [menu, copy]);
  if (start === undefined) return null;
  const initial = withEdits(start, values ?? {});
  return (
    <Frame title={newTitle(menu)} onClose={onClose}>
      <Body {...props} base={EMPTY} isNew initial={initial} />
    </Frame>
  );
}

const EMPTY: Row = {};

/** The item that a new one was to stand beside has gone meanwhile. */
const isPlaceGone = (error: unknown): error is RequestError =>
  error instanceof RequestError && /^place-(before|after): no such item/.test(error.message);

/** Nothing was changed of what a new item starts with. */
const same = (edits: Edits, initial: Edits): boolean => {
  const names = Object.keys(edits);
  return names.length === Object.keys(initial).length && names.every((name) => edits[name] === initial[name]);
};

interface BodyProps extends Common {
  readonly base: Row;
  readonly isNew: boolean;
  readonly initial: Edits;
  /** What a new item starts with was typed, and is stored nowhere. */
  readonly isTyped?: boolean;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  /** Why the item is not there any more. */
  readonly gone?: string | undefined;
  /** A new item is to be made of what stands in the form of one that is gone. */
  readonly onAddAgain?: (values: Edits) => void;
}

function Body({
  menu,
  extras,
  base,
  isNew,
  initial,
  isTyped = false,
  before,
  after,
  gone,
  onClose,
  onCopy,
  onAdded,
  onAddAgain,
}: BodyProps) {
  const form = useForm(menu, base, isNew, initial);
  const [commenting, setCommenting] = useState(false);
  const [question, setQuestion] = useState<RemoveQuestion>();
  /** Where a new item goes in an ordered list. */
  const [place, setPlace] = useState({ before, after });
  const id = base['.id'] ?? '';
  const locked = isNew ? undefined : lockedReason(menu, base);
  const disabled = isNew ? form.edits.disabled === 'true' : isSet(base, 'disabled');
  const comment = isNew ? (form.edits.comment ?? '') : (base.comment ?? '');

  async function addAtPlace(body: Readonly<Record<string, string>>) {
    const full = {
      ...body,
      ...(place.before !== undefined && { 'place-before': place.before }),
      ...(place.after !== undefined && { 'place-after': place.after }),
    };
    try {
      return await add(menu.path, full);
    } catch (error) {
      if (!isPlaceGone(error)) throw error;
      setPlace({ before: undefined, after: undefined });
      throw new RequestError(
        error.status,
        'The item that it was to stand beside does not exist any more. OK adds it at the end of the list.',
      );
    }
  }

  /** Sends the form; gives the id of the item, or undefined when the server refused it. */
  async function save(): Promise<string | undefined> {
    let saved = id;
    const taken = await form.send(async (body) => {
      const { row, revision } = isNew ? await addAtPlace(body) : await set(menu.path, id, body);
      saved = row['.id'] ?? id;
      if (isNew && saved !== '') announceAdded(menu.path, saved);
      // What is made with a timeout is no configuration; it is told of all the same.
      if (isNew || revision !== undefined || menu.undoable === false)
        tellChange(`${isNew ? 'Added' : 'Changed'} ${itemTitle(menu, row)}.`, revision);
    });
    return taken ? saved : undefined;
  }

  async function ok() {
    if (gone !== undefined) addAgain();
    else if (locked !== undefined || (await save()) !== undefined) onClose();
  }

  async function apply() {
    const saved = await save();
    if (isNew && saved !== undefined && saved !== '') onAdded(saved);
  }

  function addAgain() {
    if (menu.commands.includes('add')) onAddAgain?.({ ...valuesOf(menu, base), ...form.edits });
  }

  async function remove() {
    if (await removeItems(menu, [id])) onClose();
  }

  function askToRemove() {
    const one = { ids: [id], rows: [base], filtered: false, hidden: 0, matched: 1, total: 1, user: loggedIn() };
    const asked = removeQuestion(menu, one);
    setQuestion(asked);
    if (asked === undefined) void remove();
  }

  function disable() {
    const asked = disableQuestion(menu, [id], [base], loggedIn());
    setQuestion(asked);
    if (asked === undefined) void runOn(menu, 'disable', [id]);
  }

  const why = reason(base);
  const box = useRef<HTMLDivElement>(null);
  // The button that had the focus is gone with the item, and keys would mean nothing.
  useEffect(() => {
    const lost = document.activeElement === null || document.activeElement === document.body;
    if (gone === undefined || !lost || box.current?.closest('.window-active') === null) return;
    box.current?.querySelector<HTMLElement>('.form-buttons button')?.focus();
  }, [gone]);
  return (
    <div
      ref={box}
      className="item-box"
      data-unsaved={isNew && !isTyped && same(form.edits, initial) ? undefined : form.dirty || undefined}
    >
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
          {gone !== undefined && (
            <p className="form-error" role="alert">
              {gone}
            </p>
          )}
          {why !== undefined && <p className="form-reason">{why}</p>}
          {(base.hint ?? '') !== '' && base.hint !== why && <p className="form-hint">{base.hint}</p>}
          {isNew && !menu.commands.includes('add') && (
            <p className="form-error" role="alert">
              Not added: your group may not add items here now.
            </p>
          )}
          {locked !== undefined && menu.commands.includes('set') && <p className="form-note">Read-only: {locked}.</p>}
          {locked !== undefined && <UnsavedNote menu={menu} base={base} edits={form.edits} />}
          <FormFields
            menu={menu}
            base={base}
            form={locked !== undefined ? untouched(form) : gone !== undefined ? orphaned(form) : form}
            isNew={isNew}
            readOnly={locked !== undefined}
            extras={gone === undefined ? extras : undefined}
            place={isNew ? undefined : `${menu.path}/${id}`}
          />
          {form.errors[''] !== undefined && (
            <p className="form-error" role="alert">
              {form.errors['']}
            </p>
          )}
        </div>
        <FormButtons
          menu={menu}
          isNew={isNew}
          locked={locked}
          kept={removalLock(menu, base)}
          busy={form.busy}
          disabled={disabled}
          gone={gone !== undefined}
          onClose={onClose}
          onApply={() => void apply()}
          onDisable={(wanted) => {
            if (isNew) form.change('disabled', wanted ? 'true' : undefined);
            else if (wanted) disable();
            else void runOn(menu, 'enable', [id]);
          }}
          onComment={() => setCommenting(true)}
          onCopy={() => onCopy(id, copiedEdits(menu, form.edits))}
          onRemove={askToRemove}
          onCommand={(command) => void runOn(menu, command, [id])}
        />
        {!isNew && gone === undefined && <FormStatus menu={menu} row={base} />}
      </form>
      {question !== undefined && (
        <RemoveDialog
          question={question}
          onAnswer={() => void (question.command === 'remove' ? remove() : runOn(menu, 'disable', [id]))}
          onClose={() => setQuestion(undefined)}
        />
      )}
      {commenting && (
        <CommentDialog
          now={comment}
          onComment={async (text) => {
            if (!isNew) return runOn(menu, 'comment', [id], { comment: text });
            form.change('comment', text === '' ? undefined : text);
            return true;
          }}
          onClose={() => setCommenting(false)}
        />
      )}
    </div>
  );
}
