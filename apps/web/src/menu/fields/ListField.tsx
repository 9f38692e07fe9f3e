import { useState } from 'react';
import { useOptions } from '../../api/references.ts';
import { Combo } from '../../ui/Combo.tsx';
import { Icon } from '../../ui/icons.tsx';
import type { ControlProps } from './Field.tsx';

/** One row for each value of a comma list. */
export function ListField({ id, prop, value, disabled, invalid, describedBy, onChange }: ControlProps) {
  const { options, load } = useOptions(prop.kind);
  // A row that is still empty is a row on the screen but not a value of the list.
  const [draft, setDraft] = useState<readonly string[]>([]);
  const filled = (list: readonly string[]) => list.filter((row) => row !== '').join(',');
  const rows = filled(draft) === value ? draft : value.split(',');
  const put = (next: readonly string[]) => {
    setDraft(next);
    onChange(filled(next));
  };
  return (
    <div className="list-field">
      {rows.map((row, index) => (
        // Rows have no identity but their place.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <div key={index} className="list-row">
          <Combo
            id={`${id}-${index}`}
            label={`${prop.label} ${index + 1}`}
            value={row}
            options={options}
            disabled={disabled}
            invalid={invalid}
            describedBy={describedBy}
            onOpen={load}
            onChange={(text) => put(rows.map((other, at) => (at === index ? text : other)))}
          />
          <button
            type="button"
            className="fold"
            aria-label={`Remove ${prop.label} ${index + 1}`}
            title="Remove this value"
            disabled={disabled}
            onClick={() => put(rows.filter((_, at) => at !== index))}
          >
            <Icon name="remove" />
          </button>
        </div>
      ))}
      <button
        type="button"
        className="fold-line"
        aria-label={`Add to ${prop.label}`}
        title="Add a value"
        disabled={disabled || rows.includes('')}
        onClick={() => put([...rows, ''])}
      >
        <Icon name="add" />
      </button>
    </div>
  );
}
