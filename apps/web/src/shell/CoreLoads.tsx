/** Load of each core as a small bar, drawn without React. */
import { onTraffic, trafficSamples } from '../api/traffic.ts';
import { useLive } from '../ui/use-live.ts';

/** Maximum number of bars: more do not fit into the header. */
const MAX_CORES = 32;

function draw(root: HTMLElement): void {
  const cpu = trafficSamples().at(-1)?.cpu;
  const cores = cpu === undefined || cpu.size > MAX_CORES ? [] : [...cpu].sort(([a], [b]) => a - b);
  while (root.childElementCount > cores.length) root.lastElementChild?.remove();
  while (root.childElementCount < cores.length) {
    const bar = document.createElement('span');
    bar.className = 'core-load';
    root.append(bar);
  }
  const text = cores.map(([core, load]) => `CPU ${core} ${Math.round(load)}%`).join(', ');
  root.hidden = cores.length === 0;
  if (root.title === text) return;
  root.title = text;
  root.setAttribute('aria-label', text);
  cores.forEach(([, load], index) => {
    const bar = root.children[index];
    if (bar instanceof HTMLElement) bar.style.backgroundSize = `100% ${Math.round(load)}%`;
  });
}

export function CoreLoads() {
  const root = useLive<HTMLSpanElement>(onTraffic, draw);
  return <span ref={root} className="core-loads" role="img" aria-label="Load of the cores" />;
}
