import type { ControlProps } from './control-props.ts';
import { withWord, words } from './word-set.ts';

/** Check boxes for the words of a closed set. */
export function SetField({ prop, value, disabled, onChange }: ControlProps) {
  const values = prop.kind.values ?? [];
  const now = words(value);
  return (
    <div className="set-field">
      {values.map((word) => (
        <label key={word} className="check">
          <input
            type="checkbox"
            disabled={disabled}
            checked={now.includes(word)}
            onChange={(event) => onChange(withWord(value, values, word, event.target.checked))}
          />
          {word}
        </label>
      ))}
    </div>
  );
}
