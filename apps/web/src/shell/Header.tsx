/**
 * The line at the top: product, router, load, connection, user. Changing values are separate components, so that only
 * they are rendered.
 */
import { displayBytes, displayDuration } from '@tollway/schema';
import { useEffect, useRef } from 'react';
import { isStale, useConnection } from '../api/connection.ts';
import { useSession } from '../api/session.ts';
import { type Liveness, useStatus } from '../api/status.ts';
import { Icon } from '../ui/icons.tsx';
import { ToolButton } from '../ui/ToolButton.tsx';
import { useLive, write } from '../ui/use-live.ts';
import { useDesktop } from '../wm/desktop-state.ts';
import { DENSITIES, setAppearance, THEMES, useAppearance } from './appearance.ts';
import { CoreLoads } from './CoreLoads.tsx';
import { openAddress } from './navigation.ts';

const PRODUCT = 'Tollway';

const WORDS: Readonly<Record<Liveness, string>> = {
  connecting: 'connecting',
  live: 'live',
  late: 'no data',
  lost: 'no connection',
  'engine-down': 'engine down',
  refused: 'configuration refused',
  'logged-out': 'logged out',
};

interface Props {
  readonly onMenu: () => void;
  readonly onFind: () => void;
  readonly onWindows: () => void;
  /** Logs out, after a confirmation if there are unsaved changes. */
  readonly onLogOut: () => void;
}

export function Header({ onMenu, onFind, onWindows, onLogOut }: Props) {
  return (
    <header className="header">
      <ToolButton name="Menus" icon="menu" onPress={onMenu} />
      <h1 className="brand">
        <img src="/icon.svg" alt="" width="18" height="18" />
        <span>{PRODUCT}</span>
      </h1>
      <Identity />
      <button type="button" className="find-button" title="Window, menu or command (Ctrl+K)" onClick={onFind}>
        <Icon name="search" />
        <span>Find</span>
        <kbd>Ctrl+K</kbd>
      </button>
      <span className="header-gap" />
      <Facts />
      <Link />
      <WindowsButton onPress={onWindows} />
      <UserMenu onLogOut={onLogOut} />
    </header>
  );
}

function Identity() {
  const identity = useStatus((status) => status.identity);
  return identity === PRODUCT || identity === '' ? null : <span className="identity">{identity}</span>;
}

const onStatus = (changed: () => void) => useStatus.subscribe(changed);

function drawFacts(root: HTMLElement): void {
  const { cpuLoad, freeMemory, uptime } = useStatus.getState();
  const texts: Readonly<Record<string, string | undefined>> = {
    cpu: cpuLoad === undefined ? undefined : `${Math.round(Number(cpuLoad))}%`,
    memory: freeMemory === undefined ? undefined : displayBytes(freeMemory),
    uptime: uptime === undefined ? undefined : displayDuration(uptime),
  };
  for (const [name, text] of Object.entries(texts)) {
    const value = root.querySelector(`[data-live="${name}"]`);
    write(value, text ?? '');
    if (value?.parentElement instanceof HTMLElement) value.parentElement.hidden = text === undefined;
  }
}

function Facts() {
  const root = useLive<HTMLDivElement>(onStatus, drawFacts);
  return (
    <div ref={root} className="facts">
      <span className="fact" hidden>
        CPU <b className="fact-percent" data-live="cpu" />
        <CoreLoads />
      </span>
      <span className="fact fact-wide" hidden>
        Free memory <b data-live="memory" />
      </span>
      <span className="fact fact-wide" hidden>
        Uptime <b data-live="uptime" />
      </span>
    </div>
  );
}

/** State of the connection to the router. */
function Link() {
  const connection = useConnection();
  const late = isStale(connection);
  return (
    <span className={`link link-${connection.liveness}`} role="status" title="Connection to the router">
      {WORDS[connection.liveness]}
      {late && ` ${connection.ageS} s`}
    </span>
  );
}

/** Button for the list of windows on a phone, which has no taskbar. */
function WindowsButton({ onPress }: { readonly onPress: () => void }) {
  const count = useDesktop((state) => state.windows.length);
  return (
    <button
      type="button"
      className="tool header-windows"
      aria-label={`Open windows, ${count}`}
      title="Open windows"
      onClick={onPress}
    >
      <Icon name="windows" />
      {count}
    </button>
  );
}

function UserMenu({ onLogOut }: Pick<Props, 'onLogOut'>) {
  const session = useSession();
  const { theme, density } = useAppearance();
  const details = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      const element = details.current;
      if (element === null || !element.open) return;
      if (event instanceof KeyboardEvent ? event.key === 'Escape' : !element.contains(event.target as Node | null)) {
        element.open = false;
      }
    };
    window.addEventListener('pointerdown', close);
    window.addEventListener('keydown', close);
    return () => {
      window.removeEventListener('pointerdown', close);
      window.removeEventListener('keydown', close);
    };
  }, []);
  if (session.phase !== 'in') return null;
  return (
    <details ref={details} className="user-menu">
      <summary aria-label={`User ${session.name}`}>
        <Icon name="user" />
        <span className="user-name">{session.name}</span>
      </summary>
      <div className="user-panel">
        <p>
          {session.name}, group {session.group}
          {session.version !== '' && (
            <>
              <br />
              Tollway {session.version}
            </>
          )}
        </p>
        <label>
          Theme
          <select
            value={theme}
            onChange={(event) =>
              setAppearance({ theme: THEMES.find((each) => each === event.target.value) ?? 'system' })
            }
          >
            {THEMES.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <label>
          Rows
          <select
            value={density}
            onChange={(event) =>
              setAppearance({ density: DENSITIES.find((each) => each === event.target.value) ?? 'normal' })
            }
          >
            {DENSITIES.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <button
          type="button"
          className="button"
          onClick={() => {
            if (details.current !== null) details.current.open = false;
            openAddress('/password');
          }}
        >
          Change password
        </button>
        <button type="button" className="button" onClick={onLogOut}>
          Log out
        </button>
      </div>
    </details>
  );
}
