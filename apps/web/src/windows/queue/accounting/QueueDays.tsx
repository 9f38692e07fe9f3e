/** Traffic of a queue by day: the last month as bars, all days as a table and as a file. */
import { displayBytes } from '@tollway/schema';
import { useContext, useEffect, useLayoutEffect, useState } from 'react';
import { type AccountedDay, accountingAddress, queueAccounting } from '../../../api/queue-accounting.ts';
import type { Row } from '../../../api/row.ts';
import { ResizeRequest } from '../../../menu/form-resize.ts';
import { useVisible } from '../../../ui/visibility.ts';
import { directionsOf } from '../pair.ts';
import { lastDays, sumOf } from './days.ts';
import './accounting.css';
import { messageOf } from '../../../ui/message-of.ts';

/** Number of days in the bar chart. */
const SHOWN = 31;
/** Interval of requests, ms. */
const EVERY_MS = 30_000;

const bytesText = (bytes: number): string => displayBytes(String(Math.round(bytes)));

export function QueueDays({ row }: { readonly row: Row }) {
  const id = row['.id'];
  const directions = directionsOf(row);
  const [days, setDays] = useState<readonly AccountedDay[]>();
  const [problem, setProblem] = useState('');
  const visible = useVisible();
  useEffect(() => {
    if (id === undefined || !visible) return;
    let gone = false;
    const ask = () =>
      queueAccounting(id).then(
        (found) => {
          if (gone) return;
          setDays(found);
          setProblem('');
        },
        (error: unknown) => gone || setProblem(messageOf(error)),
      );
    void ask();
    const timer = setInterval(() => void ask(), EVERY_MS);
    return () => {
      gone = true;
      clearInterval(timer);
    };
  }, [id, visible]);

  const requestResize = useContext(ResizeRequest);
  const loaded = days !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what comes later makes the dialog taller
  useLayoutEffect(requestResize, [requestResize, loaded]);

  if (problem !== '') return <p className="form-error">{problem}</p>;
  if (days === undefined) return null;
  if (days.length === 0)
    return <p className="form-note">Nothing has been counted yet; the first day appears shortly.</p>;
  const labels = directions.map(({ label }) => label);
  return (
    <div className="days">
      <DayBars days={lastDays(days, SHOWN)} colors={directions.map(({ color }) => color)} labels={labels} />
      <div className="days-table" role="group" tabIndex={0} aria-label="Days">
        <table>
          <thead>
            <tr>
              <th scope="col">Day</th>
              {labels.map((label) => (
                <th key={label} scope="col">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days
              .toReversed()
              .slice(0, SHOWN)
              .map(({ date, bytes }) => (
                <tr key={date}>
                  <th scope="row">{date}</th>
                  {labels.map((label, which) => (
                    <td key={label}>{bytesText(bytes[which] ?? 0)}</td>
                  ))}
                </tr>
              ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">All days</th>
              {labels.map((label, which) => (
                <td key={label}>{bytesText(sumOf(days)[which] ?? 0)}</td>
              ))}
            </tr>
          </tfoot>
        </table>
      </div>
      <a className="button days-file" href={accountingAddress(id ?? '', 'csv')} download>
        Download CSV
      </a>
    </div>
  );
}

interface BarsProps {
  readonly days: readonly AccountedDay[];
  readonly colors: readonly string[];
  readonly labels: readonly string[];
}

const HEIGHT = 96;

/** A pair of bars for each day. The table below shows the same values as numbers. */
function DayBars({ days, colors, labels }: BarsProps) {
  const top = Math.max(1, ...days.flatMap(({ bytes }) => bytes));
  const sides = colors.length;
  return (
    <figure className="days-bars">
      <figcaption>
        <span>Last {days.length} days</span>
        <span className="days-top">up to {bytesText(top)} a day</span>
        {labels.map((label, which) => (
          <span key={label} className="days-key">
            <i style={{ background: `var(${colors[which]})` }} />
            {label}
          </span>
        ))}
      </figcaption>
      <svg viewBox={`0 0 ${days.length * 10} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {days.map(({ date, bytes }, at) =>
          colors.map((color, which) => {
            const height = ((bytes[which] ?? 0) / top) * HEIGHT;
            return (
              <rect
                key={`${date} ${color}`}
                x={at * 10 + 1 + (which * 8) / sides}
                y={HEIGHT - height}
                width={8 / sides}
                height={height}
                style={{ fill: `var(${color})` }}
              >
                <title>{`${date} ${labels[which]}: ${bytesText(bytes[which] ?? 0)}`}</title>
              </rect>
            );
          }),
        )}
      </svg>
      <div className="days-ends">
        <span>{days[0]?.date}</span>
        <span>{days.at(-1)?.date}</span>
      </div>
    </figure>
  );
}
