import { useCallback, useEffect, useLayoutEffect, useState } from 'react';
import { useConnection, useEngineDown, useLoggedOut, useStale } from '../api/connection.ts';
import { logout, refreshSession, useSession } from '../api/session.ts';
import { connect, disconnect, useStatus } from '../api/status.ts';
import { notifySending } from '../menu/form-toasts.ts';
import { clearUndoStack, undoByKey, undoKey } from '../menu/undo.ts';
import { Lazy } from '../ui/lazy-component.tsx';
import { WithoutAnswer } from '../ui/loading-text.ts';
import { timeOfDay } from '../ui/router-clock.ts';
import { Toasts } from '../ui/Toasts.tsx';
import { showError } from '../ui/toasts.ts';
import { OpenWindow } from '../windows/open-window.ts';
import { definitionOf } from '../windows/window-definitions.ts';
import { Desktop } from '../wm/Desktop.tsx';
import { act, useDesktop } from '../wm/desktop-state.ts';
import { activeId, windowOf } from '../wm/reducer.ts';
import { Taskbar } from '../wm/Taskbar.tsx';
import { CloseRequest } from './close-request.ts';
import { isTabAddress } from './content.ts';
import { DiscardDialog, LoginAgain, WindowList } from './dialogs.ts';
import { Header } from './Header.tsx';
import { Login } from './Login.tsx';
import { parseAddress } from './location.ts';
import { MenuTree } from './MenuTree.tsx';
import { useNarrow } from './narrow.ts';
import { closeWindow, followAddress, goBack, openAddress, openAnother, persistDesktop } from './navigation.ts';
import { Palette } from './Palette.tsx';
import { pageTitle } from './page-title.ts';
import { preloadWindows } from './preload.ts';
import { Unavailable } from './Unavailable.tsx';
import { isAnyUnsaved, isBeingSent, isUnsaved } from './unsaved.ts';
import { renderWindow } from './WindowContent.tsx';

export function App() {
  const phase = useSession((session) => session.phase);
  const expired = useSession((session) => (session.phase === 'out' ? session.expired : undefined));
  const user = useSession((session) => (session.phase === 'in' ? session.id : undefined)) ?? expired?.id;
  const name = useSession((session) => (session.phase === 'in' ? session.name : undefined)) ?? expired?.name;
  const identity = useStatus((status) => status.identity);
  useEffect(() => void refreshSession(), []);
  useEffect(() => {
    if (phase === 'in') connect();
    else disconnect();
  }, [phase]);
  useEffect(() => {
    document.title = pageTitle(identity, name, window.location.host);
  }, [identity, name]);

  if (phase === 'unknown') return null;
  return (
    <>
      {/* The edited forms are kept while the user logs in again. */}
      {phase === 'unavailable' ? <Unavailable /> : user === undefined ? <Login /> : <Console user={user} />}
      {expired !== undefined && <Lazy component={LoginAgain} props={{ name: expired.name }} />}
      <Toasts />
    </>
  );
}

const windowTitle = (id: string): string => windowOf(useDesktop.getState(), id)?.title ?? '';

/** Interval of requests for the router's problem while no values arrive, ms. */
const ASK_MS = 2_000;

/**
 * Note over the page while the router does not answer, or reports that its management does not work: values are out of
 * date.
 */
function StaleNote() {
  const { ageS } = useConnection();
  const [since] = useState(() => timeOfDay(Date.now() - ageS * 1000));
  const problem = useSession((session) => (session.phase === 'in' ? session.problem : undefined));
  // A connection that is being established without a response reports nothing for minutes.
  useEffect(() => {
    const timer = setInterval(() => void refreshSession(), ASK_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <div className="stale-note" role="alert">
      {problem === undefined
        ? `No answer from the router. What is shown is of ${since}; trying again.`
        : `${problem} The router goes on forwarding by its last configuration. What is shown is of ${since}; this page goes on by itself when it can.`}
    </div>
  );
}

/** Dialog that is open over the desktop. */
type Over = 'nothing' | 'palette' | 'windows';

/** @param user id of the logged-in user */
function Console({ user }: { readonly user: string }) {
  const narrow = useNarrow();
  /** Windows to close although they have unsaved changes, and the function that closes them. */
  const [losing, setLosing] = useState<{ readonly ids: readonly string[]; readonly close: () => void }>();
  /** Number of those windows that are still open: a response may have closed them. */
  const left = useDesktop((state) => losing?.ids.filter((id) => windowOf(state, id) !== undefined).length);
  const isMoot = left === 0;
  useEffect(() => {
    if (isMoot) setLosing(undefined);
  }, [isMoot]);
  const [over, setOver] = useState<Over>('nothing');
  const [tree, setTree] = useState<'shown' | 'hidden'>('shown');
  const [drawer, setDrawer] = useState(false);
  const current = useDesktop((state) => {
    const id = activeId(state);
    const address = id === undefined ? undefined : windowOf(state, id)?.address;
    return address === undefined ? undefined : definitionOf(parseAddress(address, isTabAddress).path ?? '')?.key;
  });
  // Before the first paint, and before the children that open windows.
  useLayoutEffect(() => {
    const stop = persistDesktop(user);
    const unfollow = followAddress();
    return () => {
      unfollow();
      stop();
    };
  }, [user]);

  useEffect(preloadWindows, []);

  const toggleTree = useCallback(() => {
    if (narrow) setDrawer((now) => !now);
    else setTree((now) => (now === 'shown' ? 'hidden' : 'shown'));
  }, [narrow]);

  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key === 'Escape') setDrawer(false);
      const asked =
        event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey;
      if (!asked || document.querySelector('dialog[open]:not(.palette)') !== null) return;
      event.preventDefault();
      setOver((now) => (now === 'palette' ? 'nothing' : 'palette'));
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);

  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const what = undoKey(event);
      if (what === undefined || event.defaultPrevented || event.repeat) return;
      if (document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      undoByKey(what);
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);
  // The stack is per user: the next user has made no changes in this page.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the user changes
  useEffect(() => clearUndoStack, [user]);

  // Cancel is deliberate, while Escape and the close button may be pressed by accident and need a confirmation. Cancel
  // needs one, too, when something was typed after the last request was sent, as the user may assume that Apply has
  // stored it.
  const requestClose = useCallback((id: string) => {
    // Changes that are being sent are not lost, and it is unknown yet whether they are accepted.
    if (isBeingSent(id)) notifySending();
    else if (isUnsaved(id)) setLosing({ ids: [id], close: () => closeWindow(id) });
    else closeWindow(id);
  }, []);
  const back = useCallback((id: string) => goBack(id, requestClose), [requestClose]);
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      if (isAnyUnsaved()) event.preventDefault();
    };
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, []);
  const unlessUnsaved = useCallback((close: () => void) => {
    const ids = useDesktop.getState().windows.flatMap(({ id }) => (isUnsaved(id) ? [id] : []));
    if (ids.some(isBeingSent)) notifySending();
    else if (ids.length > 0) setLosing({ ids, close });
    else close();
  }, []);
  const requestCloseAll = useCallback(() => unlessUnsaved(() => act({ do: 'close-all' })), [unlessUnsaved]);
  const logOut = useCallback(
    () => unlessUnsaved(() => void logout().catch((error: unknown) => showError('Log out', error))),
    [unlessUnsaved],
  );
  const stale = useStale();
  const engineDown = useEngineDown();
  const loggedOut = useLoggedOut();
  const classes = ['console'];
  if (engineDown) classes.push('console-engine-down');
  if (stale || loggedOut) classes.push('console-stale');
  if (drawer) classes.push('drawer-open');
  if (tree === 'hidden') classes.push('tree-hidden');
  return (
    <WithoutAnswer value={stale}>
      <div className={classes.join(' ')}>
        <Header
          onMenu={toggleTree}
          onFind={() => setOver('palette')}
          onWindows={() => setOver('windows')}
          onLogOut={logOut}
        />
        {stale && <StaleNote />}
        <MenuTree
          current={current}
          onGo={(address) => {
            setDrawer(false);
            openAddress(address);
          }}
        />
        <button
          type="button"
          className="drawer-shade"
          aria-label="Close menus"
          tabIndex={-1}
          onClick={() => setDrawer(false)}
        />
        <OpenWindow value={openAddress}>
          <CloseRequest value={requestClose}>
            <Desktop
              narrow={narrow}
              render={renderWindow}
              onAnother={openAnother}
              onCloseRequest={requestClose}
              onCloseAllRequest={requestCloseAll}
              onBack={back}
            >
              <p className="desktop-note">No window is open. Choose one from the menus, or press Ctrl+K and type.</p>
            </Desktop>
          </CloseRequest>
        </OpenWindow>
        {!narrow && <Taskbar onCloseRequest={requestClose} />}
        {losing !== undefined && !isMoot && (
          <Lazy
            component={DiscardDialog}
            props={{
              titles: losing.ids.map(windowTitle).filter((title) => title !== ''),
              onDiscard: () => {
                setLosing(undefined);
                losing.close();
              },
              onClose: () => setLosing(undefined),
            }}
          />
        )}
        {over === 'palette' && !loggedOut && (
          <Palette
            onTree={toggleTree}
            onCloseAllRequest={requestCloseAll}
            onLogOut={logOut}
            onClose={() => setOver('nothing')}
          />
        )}
        {over === 'windows' && (
          <Lazy component={WindowList} props={{ onCloseRequest: requestClose, onClose: () => setOver('nothing') }} />
        )}
      </div>
    </WithoutAnswer>
  );
}
