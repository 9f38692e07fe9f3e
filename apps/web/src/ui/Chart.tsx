/** A sliding line chart. Its time axis ends at the newest sample; gaps in the samples are shown as gaps. */
import { useEffect, useId, useRef } from 'react';
import 'uplot/dist/uPlot.min.css';
import { ChartPlot, type Line } from './chart-plot.ts';
import { paintQueue } from './paint-queue.ts';
import { type Points, SlidingWindow } from './sliding-window.ts';
import { useVisible } from './visibility.ts';

export type { Line } from './chart-plot.ts';
export type { Points } from './sliding-window.ts';

interface Props {
  readonly title: string;
  /** Unit of the values: `bps`, `p/s`, `B`, `%`. */
  readonly unit: string;
  readonly lines: readonly Line[];
  /** Maximum time span, ms; shorter while there are few samples. */
  readonly spanMs: number;
  /** Fixed upper end of the axis; by default it depends on the data. */
  readonly max?: number;
  /** The points newer than a time, oldest first. */
  readonly read: (afterMs: number) => Points;
  /**
   * Adds a callback for new points; returns the function that removes it. Only subscribed while the chart is visible.
   */
  readonly subscribe: (changed: () => void) => () => void;
  /** Changes when colours must be read again. */
  readonly appearance: string;
}

/** Values of lines below zero are stored as negative values. */
function signed(points: Points, lines: readonly Line[]): Points {
  return {
    times: points.times,
    values: points.values.map((line, which) =>
      lines[which]?.below === true ? line.map((value) => (value === null ? null : -value)) : line,
    ),
  };
}

export function Chart(props: Props) {
  const { title, unit, lines, max, appearance, spanMs } = props;
  const host = useRef<HTMLDivElement>(null);
  const values = useRef<HTMLDListElement>(null);
  const time = useRef<HTMLElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const inSight = useVisible();
  const look = useRef<() => void>(undefined);
  const sight = useRef(inSight);
  sight.current = inSight;
  const titleId = useId();
  const shape = JSON.stringify([lines, unit, max, appearance, spanMs]);

  // `shape` represents all properties that the plot is built from.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the plot is rebuilt only when its shape changes
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const held = new SlidingWindow(lines.length, spanMs);
    const plot = new ChartPlot(element, { unit, lines, max, spanMs, readOut }, held);

    function readOut(at: string, texts: readonly string[]) {
      if (time.current !== null && time.current.textContent !== at) time.current.textContent = at;
      const cells = values.current?.querySelectorAll('dd') ?? [];
      for (const [which, cell] of cells.entries()) {
        const text = texts[which] ?? '–';
        if (cell.textContent !== text) cell.textContent = text;
      }
    }

    const painting = paintQueue.job(() => {
      held.append(signed(latest.current.read(held.newestMs), lines));
      plot.draw();
    });
    let stop: (() => void) | undefined;
    let onScreen = false;
    const follow = () => {
      if (!(onScreen && sight.current)) {
        stop?.();
        stop = undefined;
      } else if (stop === undefined) {
        stop = latest.current.subscribe(() => painting.ask());
        painting.ask();
      }
    };
    look.current = follow;
    // Whether it is scrolled out of its container, or the container is hidden.
    const scrolled = new IntersectionObserver((entries) => {
      onScreen = entries.at(-1)?.isIntersecting === true;
      follow();
    });
    scrolled.observe(element);
    const resizing = paintQueue.job(() => plot.resize());
    const resize = new ResizeObserver(() => resizing.ask());
    resize.observe(element);
    return () => {
      stop?.();
      look.current = undefined;
      painting.cancel();
      resizing.cancel();
      scrolled.disconnect();
      resize.disconnect();
      plot.destroy();
    };
  }, [shape]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the chart comes into view or leaves it
  useEffect(() => look.current?.(), [inSight]);

  return (
    <figure className="chart" aria-labelledby={titleId}>
      <figcaption>
        <span id={titleId}>{title}</span>
        <dl ref={values} className="chart-values">
          {lines.map((line) => (
            <div key={line.label}>
              <dt>
                <svg className="chart-key" viewBox="0 0 14 4" width="14" height="4" aria-hidden="true">
                  <path
                    d="M0 2h14"
                    strokeWidth="2.5"
                    strokeDasharray={line.dashed ? '4 2' : undefined}
                    style={{ stroke: `var(${line.color})` }}
                  />
                </svg>
                {line.label}
              </dt>
              <dd>–</dd>
            </div>
          ))}
        </dl>
        <span ref={time} className="chart-time" />
      </figcaption>
      <div ref={host} className="chart-plot" role="img" aria-label={`Graph of ${title} over the last minutes`} />
    </figure>
  );
}
