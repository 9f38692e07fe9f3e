import { type PointerEvent, useEffect, useId, useRef } from 'react';
import { useAppearanceKey } from '../../../ui/appearance-key.ts';
import { paintQueue } from '../../../ui/paint-queue.ts';
import { withUnit } from '../../../ui/units.ts';
import { write } from '../../../ui/use-live.ts';
import { useVisible } from '../../../ui/visibility.ts';
import { agoText, type BinPlotData, paintBins, valueAt } from './bin-plot.ts';

interface Props {
  readonly title: string;
  readonly read: () => BinPlotData;
  /** Adds a callback for new values; returns the function that removes it. */
  readonly subscribe: (changed: () => void) => () => void;
}

/** The colour of a custom property in the format of the canvas. */
function colorsOf(host: HTMLElement): (property: string) => string {
  const style = getComputedStyle(host);
  const known = new Map<string, string>();
  return (property) => {
    const color = known.get(property);
    if (color !== undefined) return color;
    host.style.color = `var(${property})`;
    const found = style.color;
    host.style.color = '';
    known.set(property, found);
    return found;
  };
}

/** One plot of bins; its caption shows the value under the pointer. */
export function BinPlot(props: Props) {
  const { title, subscribe } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const readOut = useRef<HTMLSpanElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const shown = useRef<BinPlotData>(undefined);
  const appearance = useAppearanceKey();
  const visible = useVisible();
  const titleId = useId();

  // biome-ignore lint/correctness/useExhaustiveDependencies: colours are read anew when the appearance changes
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext('2d');
    if (element === null || context === null || context === undefined || !visible) return;
    const colorOf = colorsOf(element);
    const job = paintQueue.job(() => {
      const { clientWidth: width, clientHeight: height } = element;
      if (width === 0 || height === 0) return;
      const ratio = window.devicePixelRatio;
      const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (element.width !== w || element.height !== h) [element.width, element.height] = [w, h];
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      shown.current = latest.current.read();
      paintBins(context, shown.current, { width, height }, colorOf);
    });
    job.ask();
    const stop = subscribe(() => job.ask());
    const resize = new ResizeObserver(() => job.ask());
    resize.observe(element);
    return () => {
      stop();
      resize.disconnect();
      job.cancel();
    };
  }, [subscribe, visible, appearance]);

  function showValue(event: PointerEvent<HTMLCanvasElement>) {
    const data = shown.current;
    const { left, width } = event.currentTarget.getBoundingClientRect();
    const at = data === undefined ? undefined : valueAt(event.clientX - left, width, data.values.length);
    const value = at === undefined ? undefined : data?.values[at];
    if (data === undefined || at === undefined || value === null || value === undefined) {
      write(readOut.current, '');
      return;
    }
    const ago = (data.spanMs * (data.values.length - at)) / data.values.length;
    write(readOut.current, `${agoText(ago)} ago: ${withUnit(value, data.unit)}`);
  }

  return (
    <figure className="bin-plot" aria-labelledby={titleId}>
      <figcaption>
        <span id={titleId}>{title}</span>
        <span ref={readOut} className="chart-time" />
      </figcaption>
      <canvas
        ref={canvas}
        role="img"
        aria-labelledby={titleId}
        onPointerMove={showValue}
        onPointerLeave={() => write(readOut.current, '')}
      />
    </figure>
  );
}
