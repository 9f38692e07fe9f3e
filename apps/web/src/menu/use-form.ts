/** State of a form: edits, errors, and sending. */
import type { Menu } from '@tollway/schema';
import { useCallback, useRef, useState } from 'react';
import { RequestError } from '../api/rest.ts';
import type { Row } from '../api/row.ts';
import {
  additions,
  changes,
  type Edits,
  type Errors,
  edit,
  errorPlace,
  errorText,
  judged,
  overtaken,
  tidied,
  validate,
} from './form-model.ts';

export interface Form {
  readonly edits: Edits;
  readonly errors: Errors;
  /** How often sending failed; those errors must be seen, unlike those of a field that was just left. */
  readonly refused: number;
  readonly busy: boolean;
  readonly dirty: boolean;
  /** What others gave edited properties meanwhile; empty for one that they unset. */
  readonly overtaken: Readonly<Record<string, string>>;
  change(name: string, value: string | undefined): void;
  /** Judges a field that the user has left. */
  leave(name: string): void;
  reset(): void;
  /** Sends what was changed. True when the server took it or there was nothing to send. */
  send(save: (body: Readonly<Record<string, string>>) => Promise<void>): Promise<boolean>;
}

/** A form of what may only be looked at: the values are those of the router, whatever was being edited before. */
export const untouched = (form: Form): Form => ({ ...form, edits: {}, errors: {}, overtaken: {} });

/** A form of an item that is gone: nothing that others gave it can be overwritten any more. */
export const orphaned = (form: Form): Form => ({ ...form, overtaken: {} });

export function useForm(menu: Menu, base: Row, isNew: boolean, initial: Edits = {}): Form {
  const [edits, setEdits] = useState<Edits>(initial);
  const [origins, setOrigins] = useState<Readonly<Record<string, string | undefined>>>({});
  const [errors, setErrors] = useState<Errors>({});
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState(0);

  const latest = useRef({ base, edits });
  latest.current = { base, edits };

  const change = useCallback(
    (name: string, value: string | undefined) => {
      const { base: item, edits: made } = latest.current;
      if (made[name] === undefined) setOrigins((now) => ({ ...now, [name]: item[name] }));
      setEdits((now) => edit(menu, now, item, name, value));
      setErrors(({ [name]: _, '': __, ...rest }) => rest);
    },
    [menu],
  );
  const leave = useCallback(
    (name: string) => {
      const prop = menu.props[name];
      const typed = latest.current.edits[name];
      if (prop === undefined || typed === undefined || typed === null) return;
      const { value, error } = judged(prop, typed);
      if (value !== typed) setEdits((now) => (now[name] === typed ? { ...now, [name]: value } : now));
      if (error !== undefined) setErrors((now) => ({ ...now, [name]: error }));
    },
    [menu],
  );

  return {
    edits,
    errors,
    refused,
    busy,
    dirty: Object.keys(edits).length > 0,
    overtaken: isNew ? {} : overtaken(menu, base, edits, origins),
    change,
    leave,
    reset() {
      setEdits({});
      setErrors({});
    },
    async send(save) {
      // Its buttons stay focusable meanwhile: one that was disabled would lose the focus to the page.
      if (busy) return false;
      const tidy = tidied(menu, edits);
      setEdits(tidy);
      const body = isNew ? additions(menu, tidy) : changes(menu, base, tidy);
      const wrong = validate(menu, body, isNew);
      setErrors(wrong);
      if (Object.keys(wrong).length > 0) {
        setRefused(refused + 1);
        return false;
      }
      if (!isNew && Object.keys(body).length === 0) {
        setEdits({});
        return true;
      }
      setBusy(true);
      try {
        await save(body);
        setEdits({});
        return true;
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        const property = error instanceof RequestError ? error.property : undefined;
        setErrors({ [errorPlace(menu, property)]: errorText(menu, property, message) });
        setRefused(refused + 1);
        return false;
      } finally {
        setBusy(false);
      }
    },
  };
}
