/**
 * Explains why a queue may briefly exceed its limit: shows the same traffic with three bin widths, and the token
 * bucket.
 */
import { useId, useMemo, useRef, useState } from 'react';
import type { Row } from '../../../api/row.ts';
import { type TokenBucketSource, tokenBucketOf } from '../../../api/token-bucket.ts';
import { withUnit } from '../../../ui/units.ts';
import { useLive, write, writeAll } from '../../../ui/use-live.ts';
import { type Direction, directionsOf, halves, queueMenuOf } from '../pair.ts';
import { BinPlot } from './BinPlot.tsx';
import type { BinPlotData, Mark } from './bin-plot.ts';
import { type Bucket, boundBits, explanation, figuresOf, type TokenBucketFigures, WIDTHS_MS } from './explain.ts';
import './token-bucket.css';

/** Number of bins that are shown, for each width. */
const COUNTS = [400, 400, 30] as const;
const WIDTH_TEXTS = ['1 ms', '10 ms', '1 s'] as const;
/** Length of the plot of the bucket level, ms. */
const LEVEL_MS = 4_000;

/** The bucket of a queue in one direction. */
function bucketOf(row: Row, which: number): Bucket {
  const limit = halves(row['max-limit'])[which] ?? 0;
  return { limit, capacity: limit * (halves(row['bucket-size'])[which] ?? 0) };
}

interface Props {
  readonly row: Row;
}

export function TokenBucket({ row }: Props) {
  const id = row['.id'];
  const directions = directionsOf(row);
  const [which, setWhich] = useState(0);
  const [held, setHeld] = useState(false);
  const name = useId();
  const menu = queueMenuOf(row);
  const source = useMemo(() => (id === undefined ? undefined : tokenBucketOf(menu, id)), [menu, id]);
  const direction = directions[which] ?? directions[0];
  if (source === undefined || direction === undefined) return null;
  return (
    <div className="token-bucket">
      <div className="token-bucket-bar">
        {directions.length > 1 &&
          directions.map((each, index) => (
            <label key={each.label} className="check">
              <input type="radio" name={name} checked={index === which} onChange={() => setWhich(index)} />
              {each.label}
            </label>
          ))}
        <button type="button" className="button" aria-pressed={held} onClick={() => setHeld(!held)}>
          Hold
        </button>
      </div>
      <Plots key={`${id} ${which}`} source={source} row={row} which={which} direction={direction} held={held} />
    </div>
  );
}

interface PlotsProps extends Props {
  readonly source: TokenBucketSource;
  readonly which: number;
  readonly direction: Direction;
  /** True while the plots are frozen. */
  readonly held: boolean;
}

function Plots({ source, row, which, direction, held }: PlotsProps) {
  const latest = useRef({ row, held });
  latest.current = { row, held };
  const [subscribe, readings] = useMemo(() => {
    const listen = (changed: () => void) => source.listen(() => latest.current.held || changed());
    return [listen, new Map<string, BinPlotData>()] as const;
  }, [source]);
  const kept = (key: string, read: () => BinPlotData) => () => {
    const before = readings.get(key);
    if (latest.current.held && before !== undefined) return before;
    const data = read();
    readings.set(key, data);
    return data;
  };
  const bucket = () => bucketOf(latest.current.row, which);
  return (
    <>
      <Words source={source} subscribe={subscribe} bucket={bucket} which={which} direction={direction} />
      <div className="token-bucket-plots">
        {WIDTHS_MS.map((width, at) => (
          <BinPlot
            key={width}
            title={`${direction.label} in bins of ${WIDTH_TEXTS[at]}`}
            subscribe={subscribe}
            read={kept(String(width), () => binsOf(source, which, at, bucket(), direction))}
          />
        ))}
        <BinPlot
          title="Tokens in the bucket"
          subscribe={subscribe}
          read={kept('level', () => levelOf(source, which, bucket(), direction))}
        />
      </div>
    </>
  );
}

function binsOf(
  source: TokenBucketSource,
  which: number,
  at: number,
  bucket: Bucket,
  { color }: Direction,
): BinPlotData {
  const width = WIDTHS_MS[at] ?? 1;
  const count = COUNTS[at] ?? 1;
  const perSecond = 8000 / width;
  const rate = Math.max(bucket.limit, source.history.extreme(which, 'rate'));
  return {
    values: source.history.bins(which, width, count).map((bytes) => (bytes === null ? null : bytes * perSecond)),
    unit: 'bps',
    color,
    shape: 'bars',
    spanMs: width * count,
    marks: bucket.limit === 0 ? [] : marksOf(bucket, rate, width),
  };
}

function marksOf(bucket: Bucket, rate: number, width: number): readonly Mark[] {
  return [
    { label: 'limit', value: bucket.limit, color: '--text', dashed: true },
    { label: 'rate · T + bucket', value: (boundBits(bucket, rate, width) * 1000) / width, color: '--invalid' },
  ];
}

function levelOf({ history }: TokenBucketSource, which: number, bucket: Bucket, { color }: Direction): BinPlotData {
  const { limit, capacity } = bucket;
  const values = limit === 0 ? [] : history.levels(which, LEVEL_MS, limit, capacity);
  return {
    // There are fewer pixels than milliseconds: the lowest level of each ten milliseconds is shown.
    values: Array.from({ length: Math.ceil(values.length / 10) }, (_, at) =>
      lowest(values.slice(at * 10, at * 10 + 10)),
    ),
    unit: 'bit',
    color,
    shape: 'area',
    spanMs: LEVEL_MS,
    marks: limit === 0 ? [] : [{ label: 'full', value: capacity, color: '--text', dashed: true }],
  };
}

function lowest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.min(...known);
}

interface WordsProps {
  readonly source: TokenBucketSource;
  readonly subscribe: (changed: () => void) => () => void;
  readonly bucket: () => Bucket;
  readonly which: number;
  readonly direction: Direction;
}

/** Explanation in words and figures. */
function Words({ source, subscribe, bucket, which, direction }: WordsProps) {
  const element = useLive<HTMLDivElement>(subscribe, (root) => {
    const problem = source.error;
    const figures = figuresOf(source.history, which, bucket());
    const text =
      problem ??
      (source.history.from === undefined
        ? 'Waiting for the first milliseconds.'
        : explanation(figures, direction.word));
    write(root.querySelector('p'), text);
    writeAll(root, figureTexts(figures));
  });
  return (
    <div ref={element} className="token-bucket-words">
      <p className="token-bucket-text" />
      <table className="token-bucket-table">
        <thead>
          <tr>
            <th scope="col">In any</th>
            {WIDTH_TEXTS.map((width) => (
              <th key={width} scope="col">
                {width}
              </th>
            ))}
            <th scope="col">Dropped</th>
            <th scope="col">Longest wait</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">At most passed</th>
            {WIDTHS_MS.map((width) => (
              <td key={width} data-live={`busiest-${width}`} />
            ))}
            <td rowSpan={2} data-live="dropped" />
            <td rowSpan={2} data-live="wait" />
          </tr>
          <tr>
            <th scope="row">Rate · T + bucket</th>
            {WIDTHS_MS.map((width) => (
              <td key={width} data-live={`bound-${width}`} />
            ))}
          </tr>
        </tbody>
      </table>
    </div>
  );
}

function figureTexts(figures: TokenBucketFigures): Readonly<Record<string, string>> {
  const { busiest, tokenRate, limit, dropped, wait } = figures;
  return Object.fromEntries([
    ...WIDTHS_MS.map((width, at) => [`busiest-${width}`, withUnit(busiest[at] ?? 0, 'bit')]),
    ...WIDTHS_MS.map((width) => [
      `bound-${width}`,
      limit === 0 ? '–' : withUnit(boundBits(figures, tokenRate, width), 'bit'),
    ]),
    ['dropped', withUnit(dropped, 'packets')],
    ['wait', withUnit(wait / 1e6, 's')],
  ]);
}
