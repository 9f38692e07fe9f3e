/** Two values of one kind side by side, e.g. for upload and download. */
import type { PairOf, Prop } from '@tollway/schema';
import { useMemo } from 'react';
import { control } from './control.ts';
import { LiveText } from './LiveText.tsx';
import { halvesOf, pairWith } from './pair-text.ts';

interface Props {
  readonly id: string;
  readonly prop: Prop;
  readonly pair: PairOf;
  readonly value: string | undefined;
  readonly readOnly: boolean;
  readonly wrong: boolean;
  readonly describedBy: string | undefined;
  readonly onChange: (value: string) => void;
}

export function PairField({ id, prop, pair, value, readOnly, wrong, describedBy, onChange }: Props) {
  const { kind } = prop;
  const halves = halvesOf(value);
  const parts = useMemo(
    () => pair.labels.map((label): Prop => ({ ...prop, kind: pair.of, label: `${label} ${prop.label}` })),
    [prop, pair],
  );
  const change = (text: string, at: number) => {
    const { value: both, next } = pairWith(text, at, halves);
    onChange(both);
    const second = next ? document.getElementById(`${id}-${pair.names[1]}`) : null;
    second?.focus();
    if (second instanceof HTMLInputElement) second.select();
  };
  return (
    <div className="pair">
      {parts.map((part, at) => {
        const half = halves[at];
        const halfId = `${id}-${pair.names[at]}`;
        if (prop.readOnly === true) {
          return (
            <output
              key={part.label}
              id={halfId}
              aria-label={part.label}
              className={kind.align === 'right' ? 'live-value live-number' : 'live-value'}
            >
              <LiveText prop={part} value={half} />
            </output>
          );
        }
        const { Control } = control(part);
        return (
          <div key={part.label} className="pair-half">
            <label htmlFor={halfId} className="visually-hidden">
              {part.label}
            </label>
            <Control
              id={halfId}
              prop={part}
              value={half ?? ''}
              disabled={readOnly}
              invalid={wrong && !pair.of.parse(half ?? '').ok}
              describedBy={describedBy}
              onChange={(text) => change(text, at)}
            />
            {pair.of.unit !== undefined && <span className="unit">{pair.of.unit}</span>}
          </div>
        );
      })}
    </div>
  );
}
