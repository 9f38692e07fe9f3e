/** Two values of one kind side by side, e.g. for upload and download. */
import type { PairOf, Prop } from '@tollway/schema';
import { useMemo } from 'react';
import { control } from './control.ts';
import { LiveText } from './LiveText.tsx';

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

/** The halves of `first/second`; one value stands for both. */
function halvesOf(value: string | undefined): readonly [string | undefined, string | undefined] {
  if (value === undefined) return [undefined, undefined];
  const slash = value.indexOf('/');
  return slash < 0 ? [value, value] : [value.slice(0, slash), value.slice(slash + 1)];
}

export function PairField({ id, prop, pair, value, readOnly, wrong, describedBy, onChange }: Props) {
  const { kind } = prop;
  const halves = halvesOf(value);
  const parts = useMemo(
    () => pair.labels.map((label): Prop => ({ ...prop, kind: pair.of, label: `${label} ${prop.label}` })),
    [prop, pair],
  );
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
              onChange={(text) => onChange(at === 0 ? `${text}/${halves[1] ?? ''}` : `${halves[0] ?? ''}/${text}`)}
            />
            {pair.of.unit !== undefined && <span className="unit">{pair.of.unit}</span>}
          </div>
        );
      })}
    </div>
  );
}
