/** Load of each core as a small bar. It listens all the time, so the graphs have a past when they are opened. */
import { useSyncExternalStore } from 'react';
import { onTraffic, trafficSamples } from '../api/traffic.ts';

/** More bars than this would crowd the header out. */
const MOST_CORES = 32;

function loads(): string {
  const cpu = trafficSamples().at(-1)?.cpu;
  if (cpu === undefined || cpu.size > MOST_CORES) return '';
  return [...cpu]
    .sort(([a], [b]) => a - b)
    .map(([core, load]) => `${core} ${Math.round(load)}`)
    .join(',');
}

export function CoreLoads() {
  const text = useSyncExternalStore(onTraffic, loads);
  if (text === '') return null;
  const cores = text.split(',').map((each) => each.split(' '));
  const words = cores.map(([core, load]) => `CPU ${core} ${load} %`).join(', ');
  return (
    <span className="core-loads" role="img" aria-label={words} title={words}>
      {cores.map(([core, load]) => (
        <span key={core} className="core-load" style={{ backgroundSize: `100% ${load}%` }} />
      ))}
    </span>
  );
}
