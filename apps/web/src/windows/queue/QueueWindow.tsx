/** The list of simple queues; its footer tells what waits in all of them. */
import { displayBytes, thousands } from '@tollway/schema';
import { onTraffic, trafficSamples } from '../../api/traffic.ts';
import { MenuTable } from '../../menu/MenuTable.tsx';
import { useLive, write } from '../../ui/use-live.ts';
import type { WindowProps } from '../bespoke.ts';

/** `0 B queued, 0 packets queued`, of all queues together; empty before the first sample. */
export function queuedText(): string {
  const queued = trafficSamples().at(-1)?.queued;
  if (queued === undefined) return '';
  return `${displayBytes(String(queued.bytes))} queued, ${thousands(String(queued.packets))} packets queued`;
}

function Queued() {
  const element = useLive<HTMLSpanElement>(onTraffic, (span) => write(span, queuedText()));
  return <span ref={element} />;
}

const queued = <Queued />;

export function QueueWindow(props: WindowProps) {
  return <MenuTable {...props} footer={queued} />;
}
