/** One line of a form: label, unset button, negation, the control of the kind, unit, error. */
import { type Prop, splitNot } from '@tollway/schema';
import { memo, type ReactNode, useEffect, useId, useRef } from 'react';
import { flushSync } from 'react-dom';
import { Icon } from '../../ui/icons.tsx';
import { unfoldedValue } from '../form-model.ts';
import { control } from './control.ts';
import { LiveText } from './LiveText.tsx';
import { PairField } from './PairField.tsx';

interface FieldProps {
  readonly name: string;
  readonly prop: Prop;
  readonly value: string | undefined;
  /** Never folded, even if the property may be unset. */
  readonly open?: boolean;
  readonly readOnly: boolean;
  readonly error: string | undefined;
  /** The value that another user has stored while this field was edited. */
  readonly conflict: string | undefined;
  /** True when its control should take the focus; the field reports when it has. */
  readonly sought?: boolean;
  readonly onFound?: () => void;
  readonly onChange: (name: string, value: string | undefined) => void;
  readonly onBlur: (name: string) => void;
}

/** Rendered only when its own value changes, as other values of the dialog are updated continuously. */
export const Field = memo(function Field({
  name,
  prop,
  value,
  open = false,
  readOnly,
  error,
  conflict,
  sought = false,
  ...owner
}: FieldProps) {
  const id = useId();
  const line = useRef<HTMLDivElement>(null);
  const { onFound } = owner;
  useEffect(() => {
    if (!sought) return;
    // If there are several controls: the invalid one, or else the first.
    const wrong = line.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    const first = line.current?.querySelector<HTMLElement>('.field-body :is(input, select, textarea, button)');
    (wrong ?? first)?.focus();
    onFound?.();
  }, [sought, onFound]);
  const onChange = (next: string | undefined) => owner.onChange(name, next);
  const errorId = `${id}-error`;
  const { not } = prop;
  const folds = prop.unset === true && !open;
  const { negate, text } = not === true && value !== undefined ? splitNot(value) : { negate: false, text: value ?? '' };

  let body: ReactNode;
  let grouped = false;
  if (prop.kind.pair !== undefined) {
    grouped = true;
    body = (
      <PairField
        id={id}
        prop={prop}
        pair={prop.kind.pair}
        value={value}
        readOnly={readOnly}
        wrong={error !== undefined}
        describedBy={error === undefined ? undefined : errorId}
        onChange={onChange}
      />
    );
  } else if (prop.readOnly === true) {
    body = (
      <output id={id} className={prop.kind.align === 'right' ? 'live-value live-number' : 'live-value'}>
        <LiveText prop={prop} value={value} />
      </output>
    );
  } else if (value === undefined && folds) {
    body = (
      <button
        id={id}
        type="button"
        className="fold-line"
        title={`Set ${prop.label}. ${prop.help}`}
        aria-label={`Set ${prop.label}`}
        aria-expanded="false"
        disabled={readOnly}
        onClick={(event) => {
          const folded = event.currentTarget.closest('.field');
          // The control replaces the folded line and takes the focus, so that the user can type at once.
          flushSync(() => onChange(unfoldedValue(prop)));
          const next = folded?.querySelector('input, select, .list-field button');
          if (next instanceof HTMLElement) next.focus();
        }}
      >
        <Icon name="unfold" />
      </button>
    );
  } else {
    const { Control, group } = control(prop);
    grouped = group;
    body = (
      <>
        {not === true && (
          <button
            type="button"
            className="not"
            aria-label={`Not ${prop.label}`}
            aria-pressed={negate}
            title="Not: everything but this"
            disabled={readOnly}
            onClick={() => onChange(`${negate ? '' : '!'}${text}`)}
          >
            {negate ? '!' : ''}
          </button>
        )}
        <Control
          id={id}
          prop={prop}
          value={text}
          disabled={readOnly}
          invalid={error !== undefined}
          describedBy={error === undefined ? undefined : errorId}
          onChange={(next) => onChange(negate ? `!${next}` : next)}
        />
        {prop.kind.unit !== undefined && <span className="unit">{prop.kind.unit}</span>}
        {folds && (
          <button
            type="button"
            className="fold"
            aria-label={`Unset ${prop.label}`}
            title={`Unset ${prop.label}`}
            disabled={readOnly}
            onClick={() => onChange(undefined)}
          >
            <Icon name="fold" />
          </button>
        )}
      </>
    );
  }

  return (
    <div
      ref={line}
      className={error === undefined ? 'field' : 'field field-wrong'}
      data-property={name}
      {...(grouped ? { role: 'group', 'aria-labelledby': `${id}-label` } : {})}
      onBlur={() => owner.onBlur(name)}
    >
      {grouped ? (
        <span id={`${id}-label`} className="field-label" title={prop.help}>
          {prop.label}
        </span>
      ) : (
        <label htmlFor={id} className="field-label" title={prop.help}>
          {prop.label}
        </label>
      )}
      <div className="field-body">{body}</div>
      {error !== undefined && (
        <p id={errorId} className="field-error" role="alert">
          {error}
        </p>
      )}
      {conflict !== undefined && (
        <p className="field-note" role="status">
          {conflict === '' ? 'Somebody has unset it meanwhile' : `Somebody has made it ${conflict} meanwhile`}; OK or
          Apply puts this value in its place.
        </p>
      )}
    </div>
  );
});
