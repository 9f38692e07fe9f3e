/** A sliding line chart. Time runs to the newest sample; gaps stay gaps. */
import { useEffect, useId, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { axisLabels, scaleFor, spanOf, withGaps, withUnit } from './units.ts';

export interface Line {
  readonly label: string;
  /** Custom property that holds the colour, e.g. `--tx`. */
  readonly color: string;
  readonly dashed?: boolean;
  /** Drawn below the zero line; labels stay positive. */
  readonly below?: boolean;
}

/** Times (ms since 1970) and one list of values for each line. */
export interface ChartData {
  readonly times: readonly number[];
  readonly values: readonly (readonly (number | null)[])[];
}

interface Props {
  readonly title: string;
  /** Unit of the values: `bit/s`, `packets/s`, `%`. */
  readonly unit: string;
  readonly lines: readonly Line[];
  /** Most time shown, ms; less while there are few samples. */
  readonly spanMs: number;
  /** Fixed top of the axis; grows with the data when absent. */
  readonly max?: number;
  readonly read: () => ChartData;
  /** Calls back on new data; returns the function that stops it. */
  readonly subscribe: (changed: () => void) => () => void;
  /** Changes when colours must be read anew. */
  readonly appearance: string;
}

/** More time than this between two samples is a gap, ms. */
const GAP_MS = 3_000;
/** Smallest top of an axis without a fixed one. */
const LEAST_TOP: Readonly<Record<string, number>> = { 'bit/s': 1_000, 'packets/s': 10 };

function clock(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString([], { hourCycle: 'h23' });
}

function colorOf(host: HTMLElement, property: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${property})`;
  host.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}

export function Chart(props: Props) {
  const { title, unit, lines, max, appearance } = props;
  const host = useRef<HTMLDivElement>(null);
  const values = useRef<HTMLDListElement>(null);
  const titleId = useId();
  const latest = useRef(props);
  latest.current = props;
  const shape = JSON.stringify([lines, unit, max, appearance]);

  // `shape` stands for every property that the plot is built from.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the plot is rebuilt only when its shape changes
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const font = `12px ${getComputedStyle(element).fontFamily}`;
    const ink = colorOf(element, '--text-2');
    const grid = colorOf(element, '--line');
    const scale = { current: scaleFor(0) };
    let span = latest.current.spanMs / 1000;

    const axis = { font, stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1, size: 4 } };
    const options: uPlot.Options = {
      width: Math.max(element.clientWidth, 120),
      height: Math.max(element.clientHeight, 80),
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
      scales: {
        x: { time: true, range: (_plot, _from, to) => [to - span, to] },
        y: {
          range: (_plot, from, to) => {
            const top = Math.max(max ?? 0, to ?? 0, max === undefined ? (LEAST_TOP[unit] ?? 1) : 0);
            const bottom = lines.some((line) => line.below) ? Math.min(from ?? 0, -(LEAST_TOP[unit] ?? 1)) : 0;
            return max === undefined ? [bottom * 1.08, top * 1.08] : [bottom, top];
          },
        },
      },
      axes: [
        { ...axis, space: 90, size: 26, values: (_plot, ticks) => ticks.map(clock) },
        {
          ...axis,
          size: 52,
          space: 28,
          values: (_plot, ticks) => {
            scale.current = unit === '%' ? { divisor: 1, prefix: '' } : scaleFor(Math.max(...ticks.map(Math.abs)));
            return axisLabels(ticks, scale.current);
          },
        },
      ],
      series: [
        {},
        ...lines.map((line) => ({
          label: line.label,
          stroke: colorOf(element, line.color),
          width: 1.5,
          points: { show: false },
          spanGaps: false,
          ...(line.dashed ? { dash: [5, 3] } : {}),
        })),
      ],
      hooks: {
        setCursor: [() => writeValues()],
        // The axis chooses its prefix while it is drawn; the unit follows it.
        draw: [
          () => {
            unitLabel.textContent = `${scale.current.prefix}${unit}`;
          },
        ],
      },
    };
    const unitLabel = document.createElement('span');
    unitLabel.className = 'chart-unit';
    const plot = new uPlot(options, [[], ...lines.map(() => [])], element);
    element.append(unitLabel);

    function writeValues() {
      const index = plot.cursor.idx ?? plot.data[0].length - 1;
      const cells = values.current?.querySelectorAll('dd');
      for (const which of lines.keys()) {
        const value = plot.data[which + 1]?.[index];
        const cell = cells?.[which];
        const text = typeof value === 'number' ? withUnit(Math.abs(value), unit) : '–';
        if (cell !== undefined && cell.textContent !== text) cell.textContent = text;
      }
    }

    function draw() {
      const data = latest.current.read();
      span = spanOf(data.times, latest.current.spanMs);
      const { times, series } = withGaps(data.times, data.values, GAP_MS);
      const signed = series.map((line, which) =>
        lines[which]?.below ? line.map((value) => (value === null ? null : -value)) : line,
      );
      plot.setData([times.map((time) => time / 1000), ...signed]);
      writeValues();
    }

    draw();
    const stop = latest.current.subscribe(draw);
    const resize = new ResizeObserver(() => {
      if (element.clientWidth > 0) plot.setSize({ width: element.clientWidth, height: element.clientHeight });
    });
    resize.observe(element);
    return () => {
      stop();
      resize.disconnect();
      plot.destroy();
      unitLabel.remove();
    };
  }, [shape]);

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
      </figcaption>
      <div ref={host} className="chart-plot" role="img" aria-label={`Graph of ${title} over the last minutes`} />
    </figure>
  );
}
