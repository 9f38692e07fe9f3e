/** State of a form: edits, errors, and sending. */
import type { Menu } from '@tollway/schema';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { RequestError } from '../api/rest.ts';
import type { Row } from '../api/row.ts';
import { afterPress } from '../ui/after-press.ts';
import { messageOf } from '../ui/message-of.ts';
import {
  additions,
  changes,
  conflicts,
  type Edits,
  type Errors,
  edit,
  errorPlace,
  errorText,
  trimmedEdits,
  validate,
  validateTyped,
} from './form-model.ts';
import {
  type Acknowledged,
  acknowledgedBy,
  isOutdated,
  typedSince,
  withAcknowledged,
  withSentValues,
} from './form-response.ts';

/** Result of sending. `typed-since`: the request succeeded, and more was typed before the response. */
export type SendResult = 'refused' | 'taken' | 'typed-since';

export interface Form {
  /** The item by the live feed, or by the last response while the feed is older. */
  readonly base: Row;
  readonly edits: Edits;
  readonly errors: Errors;
  /** Number of failed requests. Their errors must come into view, unlike those of a field that was just left. */
  readonly failedSends: number;
  readonly busy: boolean;
  readonly dirty: boolean;
  /** True when something was typed after the last request was sent: the user may assume that it is stored. */
  readonly editedSinceSend: boolean;
  /** Values that other users have stored for edited properties meanwhile; empty for a property that was unset. */
  readonly conflicts: Readonly<Record<string, string>>;
  change(name: string, value: string | undefined): void;
  /** Validates a field that the user has left. */
  blur(name: string): void;
  reset(): void;
  /**
   * Sends the changes, if there are any. Values typed meanwhile are kept.
   * @param save sends the request; returns the item of the response, if there is one
   */
  send(save: (body: Readonly<Record<string, string>>) => Promise<Row | undefined>): Promise<SendResult>;
}

/** True while all edits of the form are being sent: they are neither lost nor stored yet. */
export const isSending = (form: Form): boolean => form.busy && !form.editedSinceSend;

/** A read-only form: it shows the router's values, whatever was edited before. */
export const withoutEdits = (form: Form): Form => ({ ...form, edits: {}, errors: {}, conflicts: {} });

/** A form of an item that no longer exists: values of other users cannot be overwritten any more. */
export const withoutConflicts = (form: Form): Form => ({ ...form, conflicts: {} });

/**
 * Maximum time for which the live feed of an item may be older than a response, ms; after that the feed takes
 * precedence.
 */
const BEHIND_MS = 10_000;

/** @param liveRow the item by the live feed; empty before it is added */
export function useForm(menu: Menu, liveRow: Row, isNew: boolean, initial: Edits = {}): Form {
  const [edits, setEdits] = useState<Edits>(initial);
  const [origins, setOrigins] = useState<Readonly<Record<string, string | undefined>>>({});
  const [errors, setErrors] = useState<Errors>({});
  const [busy, setBusy] = useState(false);
  const [failedSends, setFailedSends] = useState(0);
  const [editedSinceSend, setEditedSinceSend] = useState(false);
  /** Edits since the request was sent; undefined while no request is pending. */
  const typed = useRef<Map<string, string | undefined>>(undefined);
  const [acknowledged, setAcknowledged] = useState<Acknowledged>();
  const base = useMemo(() => withAcknowledged(liveRow, acknowledged), [liveRow, acknowledged]);
  useEffect(() => {
    if (acknowledged === undefined) return;
    const timer = setTimeout(() => setAcknowledged(undefined), BEHIND_MS);
    return () => clearTimeout(timer);
  }, [acknowledged]);
  // If another user restores the former value later, that is a new change.
  if (acknowledged !== undefined && !isOutdated(liveRow, acknowledged)) setAcknowledged(undefined);

  const latest = useRef({ base, edits });
  latest.current = { base, edits };

  const change = useCallback(
    (name: string, value: string | undefined) => {
      const { base: item, edits: made } = latest.current;
      typed.current?.set(name, value);
      if (typed.current !== undefined) setEditedSinceSend(true);
      if (made[name] === undefined) setOrigins((now) => ({ ...now, [name]: item[name] }));
      setEdits((now) => edit(menu, now, item, name, value));
      setErrors(({ [name]: _, '': __, ...rest }) => rest);
    },
    [menu],
  );
  const blur = useCallback(
    (name: string) => {
      const prop = menu.props[name];
      const text = latest.current.edits[name];
      if (prop === undefined || text === undefined || text === null) return;
      const { value, error } = validateTyped(prop, text);
      if (value !== text) setEdits((now) => (now[name] === text ? { ...now, [name]: value } : now));
      if (typed.current?.get(name) === text) typed.current.set(name, value);
      if (error === undefined) return;
      // The error takes a line, below which the form moves: also the button whose press has taken the focus.
      afterPress(() => {
        if (latest.current.edits[name] === value) setErrors((now) => ({ ...now, [name]: error }));
      });
    },
    [menu],
  );

  return {
    base,
    edits,
    errors,
    failedSends,
    busy,
    dirty: Object.keys(edits).length > 0,
    editedSinceSend,
    conflicts: isNew ? {} : conflicts(menu, base, edits, origins),
    change,
    blur,
    reset() {
      typed.current?.clear();
      setEdits({});
      setErrors({});
      setEditedSinceSend(false);
    },
    async send(save) {
      // The buttons stay focusable meanwhile: a disabled button would lose the focus to the page.
      if (busy) return 'refused';
      const trimmed = trimmedEdits(menu, edits);
      setEdits(trimmed);
      const body = isNew ? additions(menu, trimmed) : changes(menu, base, trimmed);
      const wrong = validate(menu, body, isNew);
      setErrors(wrong);
      if (Object.keys(wrong).length > 0) {
        setFailedSends(failedSends + 1);
        return 'refused';
      }
      if (!isNew && Object.keys(body).length === 0) {
        setEdits({});
        setEditedSinceSend(false);
        return 'taken';
      }
      setBusy(true);
      setEditedSinceSend(false);
      const meanwhile = new Map<string, string | undefined>();
      typed.current = meanwhile;
      try {
        const now = (await save(body)) ?? withSentValues(base, body);
        const left = typedSince(menu, now, meanwhile);
        const names = Object.keys(left);
        setEdits(left);
        setOrigins(Object.fromEntries(names.map((name) => [name, now[name]])));
        setAcknowledged(isNew ? undefined : acknowledgedBy(menu, liveRow, now, body));
        setEditedSinceSend(names.length > 0);
        return names.length > 0 ? 'typed-since' : 'taken';
      } catch (error) {
        const message = messageOf(error);
        const property = error instanceof RequestError ? error.property : undefined;
        setErrors({ [errorPlace(menu, property)]: errorText(menu, property, message) });
        setFailedSends(failedSends + 1);
        setEditedSinceSend(false);
        return 'refused';
      } finally {
        typed.current = undefined;
        setBusy(false);
      }
    },
  };
}
