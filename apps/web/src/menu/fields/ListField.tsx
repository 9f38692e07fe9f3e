import { useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { suggests, useOptions } from '../../api/references.ts';
import { Combo } from '../../ui/Combo.tsx';
import { Icon } from '../../ui/icons.tsx';
import type { ControlProps } from './control-props.ts';

/** One row for each value of a comma list. */
export function ListField({ id, prop, value, disabled, invalid, describedBy, onChange }: ControlProps) {
  const { options, load } = useOptions(prop.kind);
  const root = useRef<HTMLDivElement>(null);
  // A row that is still empty is shown but is not part of the value.
  const [draft, setDraft] = useState<readonly string[]>([]);
  const filled = (list: readonly string[]) => list.filter((row) => row !== '').join(',');
  const rows = draft.length > 0 && filled(draft) === value ? draft : value.split(',');
  const put = (next: readonly string[]) => {
    setDraft(next);
    onChange(filled(next));
  };
  const focusRow = (index: number) => root.current?.querySelectorAll('input')[index]?.focus();
  /** Adds a row, which takes the focus so that the user can type at once. */
  function addRow() {
    flushSync(() => put([...rows, '']));
    focusRow(rows.length);
  }
  function removeRow(index: number) {
    flushSync(() => put(rows.filter((_, at) => at !== index)));
    focusRow(Math.max(0, index - 1));
  }
  return (
    <div ref={root} className="list-field">
      {rows.map((row, index) => {
        const common = { id: `${id}-${index}`, value: row, disabled };
        const label = `${prop.label} ${index + 1}`;
        const change = (text: string) => put(rows.map((other, at) => (at === index ? text : other)));
        const last = index === rows.length - 1;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place
          <div key={index} className="list-row">
            {suggests(prop.kind) ? (
              <Combo
                {...common}
                label={label}
                options={options}
                invalid={invalid}
                describedBy={describedBy}
                onOpen={load}
                onChange={change}
              />
            ) : (
              <input
                {...common}
                type="text"
                autoComplete="off"
                spellCheck={false}
                aria-label={label}
                aria-invalid={invalid && !prop.kind.parse(row).ok}
                aria-describedby={describedBy}
                title={prop.help}
                onChange={(event) => change(event.target.value)}
              />
            )}
            <button
              type="button"
              className="fold"
              aria-label={`Remove ${label}`}
              title="Remove this value"
              disabled={disabled || (rows.length === 1 && row === '')}
              onClick={() => removeRow(index)}
            >
              <Icon name="fold" />
            </button>
            {last ? (
              <button
                type="button"
                className="fold"
                aria-label={`Add to ${prop.label}`}
                title="Add a value"
                disabled={disabled || row === ''}
                onClick={addRow}
              >
                <Icon name="unfold" />
              </button>
            ) : (
              <span className="fold-space" />
            )}
          </div>
        );
      })}
    </div>
  );
}
