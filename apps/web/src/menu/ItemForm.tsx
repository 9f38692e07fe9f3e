/** The dialog of one item. Its frame (a modal dialog or a window) is provided by the owner. */
import type { Menu } from '@tollway/schema';
import { type ComponentType, type ReactNode, useEffect, useRef, useState } from 'react';
import { add, print, set } from '../api/commands.ts';
import { useStale } from '../api/connection.ts';
import { GONE, RequestError } from '../api/rest.ts';
import type { Row } from '../api/row.ts';
import { loggedIn } from '../api/session.ts';
import { FormError } from '../ui/FormError.tsx';
import { loadingText } from '../ui/loading-text.ts';
import { showError } from '../ui/toasts.ts';
import { removeItems, runOn } from './actions.ts';
import { announceAdded } from './added-rows.ts';
import { CommentDialog } from './CommentDialog.tsx';
import { isSet, reason } from './cells/text.ts';
import { FormButtons } from './FormButtons.tsx';
import { FormFields } from './FormFields.tsx';
import { FormStatus } from './FormStatus.tsx';
import { copiedEdits, copyOf, type Edits, initialEdits, valuesOf, withEdits } from './form-model.ts';
import type { TabExtras } from './form-tabs.ts';
import { notifyStaysOpen } from './form-toasts.ts';
import { itemTitle, lockedReason, removalLockedReason } from './item.ts';
import { newTitle } from './new-title.ts';
import { RemoveDialog } from './RemoveDialog.tsx';
import { disableConfirmation, type RemoveConfirmation, removeConfirmation } from './remove-confirmation.ts';
import { UnsavedNote } from './UnsavedNote.tsx';
import { notifyChange, trackChange } from './undo.ts';
import { isSending, type SendResult, useForm, withoutConflicts, withoutEdits } from './use-form.ts';
import { useItem } from './use-item.ts';

type Frame = ComponentType<{
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}>;

interface Common {
  readonly menu: Menu;
  readonly Frame: Frame;
  readonly extras?: TabExtras | undefined;
  readonly onClose: () => void;
  /** Requests to close it, with a confirmation if it has unsaved changes. */
  readonly onCloseRequest: () => void;
  /** Opens the dialog of a new item with the values of this one, including unsaved changes of its form. */
  readonly onCopy: (id: string, values: Readonly<Record<string, string>>) => void;
  /** Called when the item has been added; from then on the dialog shows that item. */
  readonly onAdded: (id: string) => void;
}

/** Content of a dialog: an item, or a new one. */
interface Shown {
  /** Null for a new item. */
  readonly id: string | null;
  /** Initial values of a new item. */
  readonly initial: Edits;
  /** True when the initial values were typed by the user and are stored nowhere. */
  readonly isTyped: boolean;
  /** Number of the frame; a new frame takes the focus. */
  readonly frame: number;
}

/** Dialog of an existing item. */
export function ItemForm(props: Common & { readonly id: string }) {
  return <ItemDialog {...props} start={{ id: props.id, initial: {}, isTyped: false, frame: 0 }} />;
}

interface DialogProps extends Common {
  readonly start: Shown;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/** Keeps one form when a new item becomes an existing one, so that typing is not interrupted. */
function ItemDialog({ start, before, after, ...common }: DialogProps) {
  const { menu, Frame, onClose } = common;
  const [{ id, initial, isTyped, frame }, setShown] = useState(start);
  const item = useItem(menu, id);
  const stale = useStale();
  const [last, setLast] = useState<Row>();
  const row = item.state === 'here' ? item.row : undefined;
  // Unsaved changes of an item that was removed, or whose state is unknown, are kept and can be added as a new item.
  if (row !== undefined && row !== last) setLast(row);
  const known = row ?? (item.state === 'missing' && !item.removed ? undefined : last);
  const shown = id === null ? EMPTY : known;
  if (shown !== undefined) {
    const isNew = id === null;
    return (
      <Frame key={frame} title={isNew ? newTitle(menu) : itemTitle(menu, shown)} onClose={onClose}>
        <Body
          {...common}
          // An item that is added again is appended, as its former position is unknown.
          {...(frame === start.frame && { before, after })}
          item={shown}
          isNew={isNew}
          initial={initial}
          isTyped={isTyped}
          gone={item.state === 'missing' ? item.why : undefined}
          onAdded={(added) => {
            const id = added['.id'] ?? '';
            setLast(added);
            setShown((now) => ({ ...now, id }));
            common.onAdded(id);
          }}
          // The focused button has disappeared together with the item.
          onAddAgain={(values) =>
            setShown((now) => ({ id: null, initial: values, isTyped: true, frame: now.frame + 1 }))
          }
        />
      </Frame>
    );
  }
  // The frame is rendered together with its content: an empty frame would flash and take the focus.
  if (item.state === 'here' || item.state === 'loading')
    return stale ? <p className="form-note">{loadingText(true)}</p> : null;
  return (
    <Frame title={menu.singular} onClose={onClose}>
      <p className="form-note">{item.why}</p>
    </Frame>
  );
}

interface NewProps extends Common {
  readonly copy: string | undefined;
  /** Id of the item before which the new one is inserted; by default it is appended. */
  readonly before?: string | undefined;
  /** Id of the item after which it is inserted. */
  readonly after?: string | undefined;
  /** Initial values, in addition to proposed ones. */
  readonly values?: Readonly<Record<string, string>> | undefined;
}

/** Dialog of a new item, empty or with the values of the item `copy`. */
export function NewItemForm(props: NewProps) {
  const { menu, copy, values } = props;
  const [start, setStart] = useState<Edits | undefined>(copy === undefined ? initialEdits(menu) : undefined);
  useEffect(() => {
    if (copy === undefined) return;
    print(menu.path, { '.id': copy })
      .then(([row]) => {
        if (row === undefined) throw new RequestError(404, GONE);
        setStart(copyOf(menu, row));
      })
      .catch((error: unknown) => {
        showError('Copy', error);
        setStart({});
      });
  }, [menu, copy]);
  if (start === undefined) return null;
  return (
    <ItemDialog {...props} start={{ id: null, initial: withEdits(start, values ?? {}), isTyped: false, frame: 0 }} />
  );
}

const EMPTY: Row = {};

/** Whether an error says that the item next to which a new one should be inserted no longer exists. */
const isPlaceGone = (error: unknown): error is RequestError =>
  error instanceof RequestError && /^place-(before|after): no such item/.test(error.message);

/** Whether the initial values of a new item are unchanged. */
const same = (edits: Edits, initial: Edits): boolean => {
  const names = Object.keys(edits);
  return names.length === Object.keys(initial).length && names.every((name) => edits[name] === initial[name]);
};

interface BodyProps extends Omit<Common, 'onAdded'> {
  /** The item by the live feed; empty for a new one. */
  readonly item: Row;
  readonly isNew: boolean;
  readonly initial: Edits;
  /** True when the initial values of a new item were typed by the user and are stored nowhere. */
  readonly isTyped: boolean;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  /** Reason why the item no longer exists. */
  readonly gone?: string | undefined;
  /** Adds a new item with the values in the form of a removed one. */
  readonly onAddAgain: (values: Edits) => void;
  /** Called when the new item was added; the dialog then shows that item. */
  readonly onAdded: (added: Row) => void;
}

function Body({
  menu,
  extras,
  item,
  isNew,
  initial,
  isTyped,
  before,
  after,
  gone,
  onClose,
  onCloseRequest,
  onCopy,
  onAdded,
  onAddAgain,
}: BodyProps) {
  const form = useForm(menu, item, isNew, initial);
  const { base } = form;
  const [commenting, setCommenting] = useState(false);
  const [confirmation, setConfirmation] = useState<RemoveConfirmation>();
  /** Position of a new item in an ordered list. */
  const [place, setPlace] = useState({ before, after });
  const id = base['.id'] ?? '';
  const locked = isNew ? undefined : lockedReason(menu, base);
  /**
   * Whether values that are changed by buttons are sent with the form: for a new item, and for one that is being added.
   */
  const isEdit = (name: string) => isNew || form.edits[name] !== undefined;
  const disabled = isEdit('disabled') ? form.edits.disabled === 'true' : isSet(base, 'disabled');
  const comment = isEdit('comment') ? (form.edits.comment ?? '') : (base.comment ?? '');

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

  /**
   * Sends the form. The form of a new item becomes the form of the added item if it should stay open, or must, as more
   * was typed meanwhile.
   */
  async function save(stays: boolean): Promise<SendResult> {
    let added: Row | undefined;
    const sent = await form.send(async (body) => {
      const { row, revision } = isNew
        ? await trackChange(`Add ${itemTitle(menu, body)}`, addAtPlace(body))
        : await trackChange(`Change ${itemTitle(menu, base)}`, set(menu.path, id, body));
      const saved = row['.id'] ?? '';
      if (isNew && saved !== '') {
        announceAdded(menu.path, saved);
        added = row;
      }
      // An item with a timeout is no configuration and makes no revision; the message is shown nevertheless.
      if (isNew || revision !== undefined || menu.undoable === false)
        notifyChange(`${isNew ? 'Added' : 'Changed'} ${itemTitle(menu, row)}.`, revision);
      return row;
    });
    if (added !== undefined && (stays || sent === 'typed-since')) onAdded(added);
    return sent;
  }

  async function ok() {
    if (gone !== undefined) return addAgain();
    const sent = locked === undefined ? await save(false) : 'taken';
    if (sent === 'taken') onClose();
    else if (sent === 'typed-since') notifyStaysOpen();
  }

  function addAgain() {
    if (menu.commands.has('add')) onAddAgain({ ...valuesOf(menu, base), ...form.edits });
  }

  async function remove() {
    if (await removeItems(menu, [id])) onClose();
  }

  function askToRemove() {
    const one = { ids: [id], rows: [base], filtered: false, hidden: 0, matched: 1, total: 1, user: loggedIn() };
    const asked = removeConfirmation(menu, one);
    setConfirmation(asked);
    if (asked === undefined) void remove();
  }

  function disable() {
    const asked = disableConfirmation(menu, [id], [base], loggedIn());
    setConfirmation(asked);
    if (asked === undefined) void runOn(menu, 'disable', [id]);
  }

  const why = reason(base);
  const box = useRef<HTMLDivElement>(null);
  // The focused button has disappeared together with the item, and keys would have no effect.
  useEffect(() => {
    const lost = document.activeElement === null || document.activeElement === document.body;
    if (gone === undefined || !lost || box.current?.closest('.window-active') === null) return;
    box.current?.querySelector<HTMLElement>('.form-buttons button')?.focus();
  }, [gone]);
  return (
    <div
      ref={box}
      className="item-box"
      data-sending={isSending(form) || undefined}
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
          <FormError>{gone}</FormError>
          {why !== undefined && <p className="form-reason">{why}</p>}
          {(base.hint ?? '') !== '' && base.hint !== why && <p className="form-hint">{base.hint}</p>}
          {isNew && !menu.commands.has('add') && (
            <FormError>Not added: your group may not add items here now.</FormError>
          )}
          {locked !== undefined && menu.commands.has('set') && <p className="form-note">Read-only: {locked}.</p>}
          {locked !== undefined && <UnsavedNote menu={menu} base={base} edits={form.edits} />}
          <FormFields
            menu={menu}
            base={base}
            form={locked !== undefined ? withoutEdits(form) : gone !== undefined ? withoutConflicts(form) : form}
            isNew={isNew}
            readOnly={locked !== undefined}
            extras={gone === undefined ? extras : undefined}
            place={isNew ? undefined : `${menu.path}/${id}`}
          />
          <FormError>{form.errors['']}</FormError>
        </div>
        <FormButtons
          menu={menu}
          isNew={isNew}
          locked={locked}
          kept={removalLockedReason(menu, base)}
          busy={form.busy}
          disabled={disabled}
          gone={gone !== undefined}
          onClose={form.editedSinceSend ? onCloseRequest : onClose}
          onApply={() => void save(true)}
          onDisable={(wanted) => {
            if (isEdit('disabled')) form.change('disabled', wanted ? 'true' : isNew ? undefined : 'false');
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
      {confirmation !== undefined && (
        <RemoveDialog
          confirmation={confirmation}
          onAnswer={() => void (confirmation.command === 'remove' ? remove() : runOn(menu, 'disable', [id]))}
          onClose={() => setConfirmation(undefined)}
        />
      )}
      {commenting && (
        <CommentDialog
          now={comment}
          onComment={async (text) => {
            if (!isEdit('comment')) return runOn(menu, 'comment', [id], { comment: text });
            form.change('comment', isNew && text === '' ? undefined : text);
            return true;
          }}
          onClose={() => setCommenting(false)}
        />
      )}
    </div>
  );
}
