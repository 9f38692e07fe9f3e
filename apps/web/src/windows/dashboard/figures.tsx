/** Tiles with one value: connections, FastTrack, drops. */
import { thousands } from '@tollway/schema';
import { onTraffic, trafficSamples } from '../../api/traffic.ts';
import { withUnit } from '../../ui/units.ts';
import { useLive, writeAll } from '../../ui/use-live.ts';
import { maxEntries, tracking } from '../ip/firewall/connection/tracking.ts';
import { notableDrops } from './drop-reasons.ts';
import { fasttrackText } from './fasttrack.ts';
import { onConnections } from './feeds.ts';
import { fillSlots } from './slots.ts';
import { Tile } from './Tile.tsx';

const number = (value: number) => thousands(String(Math.round(value)));

/** Shows a share, 0 to 1, as the length of a bar. */
function fillBar(root: HTMLElement, share: number): void {
  const bar = root.querySelector<HTMLElement>('.figure-bar > span');
  if (bar !== null) bar.style.transform = `scaleX(${Math.min(1, Math.max(0, share)).toFixed(4)})`;
}

const Bar = () => (
  <div className="figure-bar" aria-hidden="true">
    <span />
  </div>
);

function drawConnections(root: HTMLElement): void {
  const now = trafficSamples().at(-1)?.connections ?? 0;
  const [row] = tracking.rows;
  const most = maxEntries();
  writeAll(root, {
    now: number(now),
    of: row?.['active-ipv4'] === 'false' ? 'tracking is off' : most > 0 ? `of ${number(most)}` : '',
    share: most > 0 ? `${((now / most) * 100).toFixed(1)}% of the table` : '',
  });
  fillBar(root, most > 0 ? now / most : 0);
}

export function ConnectionsTile() {
  const root = useLive<HTMLDivElement>(onConnections, drawConnections);
  return (
    <Tile title="Connections" opens="/ip/firewall/connection" area="connections">
      <div ref={root} className="figure">
        <p>
          <b data-live="now">–</b> <span data-live="of" />
        </p>
        <Bar />
        <p data-live="share" />
      </div>
    </Tile>
  );
}

function drawFasttrack(root: HTMLElement): void {
  const sample = trafficSamples().at(-1);
  writeAll(root, { share: fasttrackText(sample) });
  fillBar(root, sample?.fasttrackShare ?? 0);
}

export function FasttrackTile() {
  const root = useLive<HTMLDivElement>(onTraffic, drawFasttrack);
  return (
    <Tile title="FastTrack" opens="/ip/settings" area="fasttrack">
      <div ref={root} className="figure">
        <p>
          <b data-live="share">–</b> of the packets
        </p>
        <Bar />
        <p>take the fast path of their connection.</p>
      </div>
    </Tile>
  );
}

/** Number of reasons that are listed; the others are only in the sum. */
const REASONS = 4;
const WEIGHT_MARK = { trouble: '✕', noise: '·', policy: '–', bookkeeping: '' } as const;

function drawDrops(root: HTMLElement): void {
  const drops = notableDrops(trafficSamples().at(-1)?.drops ?? new Map());
  const sum = drops.reduce((total, { rate }) => total + rate, 0);
  const top = drops.slice(0, REASONS);
  const most = Math.max(1, ...top.map(({ rate }) => rate));
  writeAll(root, { sum: withUnit(sum, 'p/s') });
  fillSlots(
    root,
    top.map(({ label, rate, opens, weight }) => ({
      opens,
      texts: { mark: WEIGHT_MARK[weight], name: label, rate: withUnit(rate, 'p/s') },
      share: rate / most,
      tone: weight,
    })),
    'Nothing is dropped now.',
  );
}

export function DropsTile() {
  const root = useLive<HTMLDivElement>(onTraffic, drawDrops);
  return (
    <Tile title="Drops" opens="/ip/firewall/filter" area="drops">
      <div ref={root} className="slots">
        <p className="slots-sum">
          <b data-live="sum">–</b>
        </p>
        <ul>
          {Array.from({ length: REASONS }, (_, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows are places, not things
            <li key={index} data-slot="" hidden>
              <a href="/">
                <span data-live="mark" aria-hidden="true" />
                <span data-live="name" />
              </a>
              <span data-live="rate" />
            </li>
          ))}
        </ul>
        <p data-live="empty" className="slots-empty" />
      </div>
    </Tile>
  );
}
