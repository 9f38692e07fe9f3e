/** A list of queues; its footer shows the sum of queued bytes and packets, and the number of hints. */
import { displayBytes, type Menu, thousands } from '@tollway/schema';
import { useMemo } from 'react';
import { live } from '../../api/live.ts';
import { RowsTopic } from '../../api/rows-topic.ts';
import { onTraffic, trafficSamples } from '../../api/traffic.ts';
import { MenuTable } from '../../menu/MenuTable.tsx';
import { useLive, write } from '../../ui/use-live.ts';
import { useLinks } from '../open-window.ts';
import type { MenuWindowProps } from '../window-props.ts';

/**
 * `0 B, 0 packets queued in all queues`, including queues that the table does not show; empty before the first sample.
 */
export function queuedText(): string {
  const queued = trafficSamples().at(-1)?.queued;
  if (queued === undefined) return '';
  const packets = `${thousands(String(queued.packets))} ${queued.packets === 1 ? 'packet' : 'packets'}`;
  return `${displayBytes(String(queued.bytes))}, ${packets} queued in all queues`;
}

function Queued() {
  const element = useLive<HTMLSpanElement>(onTraffic, (span) => write(span, queuedText()));
  return <span ref={element} />;
}

const HINTS = '/queue/lint';
/** Interval of updates of the hints, which follow from the configuration, ms. */
const HINTS_MS = 5_000;

/** `3 hints`, a link to them; nothing if there are none. */
function Hints({ menu }: { readonly menu: Menu }) {
  const follow = useLinks();
  const found = useMemo(
    () => new RowsTopic(live, HINTS, { count: 0, filter: { menu: menu.path } }, HINTS_MS),
    [menu.path],
  );
  const element = useLive<HTMLSpanElement>(found.listen, (span) => {
    const link = span.querySelector('a');
    const { matched } = found;
    span.hidden = matched === 0;
    write(link, `⚠ ${thousands(String(matched))} ${matched === 1 ? 'hint' : 'hints'}`);
  });
  return (
    <span ref={element} hidden>
      <a href={HINTS} onClick={follow} title="Settings of queues that have no effect, or not the expected one">
        Hints
      </a>
    </span>
  );
}

export function QueueWindow(props: MenuWindowProps) {
  const footer = useMemo(
    () => (
      <>
        <Queued />
        <Hints menu={props.menu} />
      </>
    ),
    [props.menu],
  );
  return <MenuTable {...props} footer={footer} />;
}
