import type { ControlProps } from './control-props.ts';
import { type Tri, triOf, withTri } from './word-set.ts';

const NEXT: Readonly<Record<Tri, Tri>> = { off: 'on', on: 'not', not: 'off' };
const MARK: Readonly<Record<Tri, string>> = { off: '', on: '✓', not: '!' };
const CHECKED = { off: 'false', on: 'true', not: 'mixed' } as const;
const WORD: Readonly<Record<Tri, string>> = { off: 'not looked at', on: 'must be set', not: 'must be clear' };

/** Boxes with three states for each word: ignored, set, cleared. */
export function TriSetField({ prop, value, disabled, onChange }: ControlProps) {
  const values = prop.kind.values ?? [];
  return (
    <div className="set-field">
      {values.map((word) => {
        const state = triOf(value, word);
        return (
          <button
            key={word}
            type="button"
            role="checkbox"
            aria-checked={CHECKED[state]}
            aria-label={`${word}: ${WORD[state]}`}
            title={WORD[state]}
            className="tri"
            disabled={disabled}
            onClick={() => onChange(withTri(value, values, word, NEXT[state]))}
          >
            <span className="tri-box">{MARK[state]}</span>
            {word}
          </button>
        );
      })}
    </div>
  );
}
