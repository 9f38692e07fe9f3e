/** Each core as a bar, divided by class of work. */
import { useCallback, useSyncExternalStore } from 'react';
import { profileUsages } from '../../api/profile.ts';
import { trafficSamples } from '../../api/traffic.ts';
import { useLive, write, writeAll } from '../../ui/use-live.ts';
import { useVisible } from '../../ui/visibility.ts';
import { type CoreShare, coreShares, meanParts, PARTS } from './core-shares.ts';
import { onCores } from './feeds.ts';
import { Tile } from './Tile.tsx';

/** Numbers of the cores that are online, as a text, so that the state is compared by value. */
function coreNumbers(): string {
  const cores = trafficSamples().at(-1)?.cpu.keys() ?? [];
  return [...cores].sort((a, b) => a - b).join(' ');
}

function drawBar(row: HTMLElement, share: CoreShare): void {
  write(row.querySelector('[data-live="load"]'), `${Math.round(share.load)}%`);
  let at = 0;
  for (const part of row.querySelectorAll<HTMLElement>('[data-part]')) {
    const key = PARTS.find((each) => each.key === part.dataset.part)?.key;
    const size = key === undefined ? 0 : share.parts[key] / 100;
    // Moved and scaled by a transform, which needs no layout.
    part.style.transform = `translateX(${(at * 100).toFixed(1)}%) scaleX(${size.toFixed(3)})`;
    at += size;
  }
}

function draw(root: HTMLElement): void {
  const shares = coreShares(trafficSamples().at(-1)?.cpu ?? new Map(), profileUsages());
  for (const row of root.querySelectorAll<HTMLElement>('[data-core]')) {
    const share = shares.find(({ core }) => String(core) === row.dataset.core);
    if (share !== undefined) drawBar(row, share);
  }
  const mean = meanParts(shares);
  writeAll(root, Object.fromEntries(PARTS.map(({ key }) => [key, `${mean[key].toFixed(1)}%`])));
}

export function CoresTile() {
  const visible = useVisible();
  const subscribe = useCallback((changed: () => void) => (visible ? onCores(changed) : () => {}), [visible]);
  const cores = useSyncExternalStore(subscribe, coreNumbers).split(' ').filter(Boolean);
  const root = useLive<HTMLDivElement>(onCores, draw);
  return (
    <Tile title="Cores" opens="/tool/profile" area="cores">
      <div ref={root} className="cores">
        <ul className="core-bars">
          {cores.map((core) => (
            <li key={core} data-core={core}>
              <span>CPU {core}</span>
              <span className="core-bar" aria-hidden="true">
                {PARTS.map(({ key }) => (
                  <span key={key} data-part={key} />
                ))}
              </span>
              <b data-live="load">–</b>
            </li>
          ))}
        </ul>
        <dl className="core-legend">
          {PARTS.map(({ key, label }) => (
            <div key={key}>
              <dt>
                <span className="core-key" data-part={key} aria-hidden="true" />
                {label}
              </dt>
              <dd data-live={key}>–</dd>
            </div>
          ))}
        </dl>
      </div>
    </Tile>
  );
}
