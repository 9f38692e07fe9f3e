import { menuByPath, registry } from '@tollway/schema';
import { useEffect, useState } from 'react';
import { refreshSession, useSession } from '../api/session.ts';
import { connect, disconnect, useStatus } from '../api/status.ts';
import { Toasts } from '../ui/Toasts.tsx';
import { Header } from './Header.tsx';
import { Login } from './Login.tsx';
import { LoginAgain } from './LoginAgain.tsx';
import { followHistory, go, parsePlace, useAddress } from './location.ts';
import { MenuTree } from './MenuTree.tsx';
import { WorkArea } from './WorkArea.tsx';

export function App() {
  const phase = useSession((session) => session.phase);
  const expired = useSession((session) => (session.phase === 'out' ? session.expired : undefined));
  const identity = useStatus((status) => status.identity);
  useEffect(() => {
    void refreshSession();
    return followHistory();
  }, []);
  useEffect(() => {
    if (phase === 'in') connect();
    else disconnect();
  }, [phase]);
  useEffect(() => {
    document.title = phase === 'in' && identity !== '' ? `${identity} – Tollway` : 'Tollway';
  }, [phase, identity]);

  if (phase === 'unknown') return null;
  return (
    <>
      {/* What was being edited stays there while the user logs in again. */}
      {phase === 'in' || expired !== undefined ? <Console /> : <Login />}
      {expired !== undefined && <LoginAgain name={expired} />}
      <Toasts />
    </>
  );
}

function Console() {
  const { pathname, search } = useAddress();
  const [drawer, setDrawer] = useState(false);
  const place = parsePlace(pathname, search, (path) => menuByPath(path) !== undefined);

  useEffect(() => {
    const first = registry[0];
    if (pathname === '/' && first !== undefined) go(first.path, undefined, 'replace');
  }, [pathname]);
  useEffect(() => {
    if (!drawer) return;
    const close = (event: KeyboardEvent) => event.key === 'Escape' && setDrawer(false);
    window.addEventListener('keydown', close);
    return () => window.removeEventListener('keydown', close);
  }, [drawer]);

  return (
    <div className={drawer ? 'console drawer-open' : 'console'}>
      <Header onMenu={() => setDrawer(!drawer)} />
      <MenuTree
        current={place.menu}
        onGo={(path) => {
          go(path);
          setDrawer(false);
        }}
      />
      <button
        type="button"
        className="drawer-shade"
        aria-label="Close menus"
        tabIndex={-1}
        onClick={() => setDrawer(false)}
      />
      <WorkArea />
    </div>
  );
}
