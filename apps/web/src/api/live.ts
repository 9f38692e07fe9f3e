/** The page's one live connection. */

import { requestUser } from './rest.ts';
import { refreshSession, setProblem } from './session.ts';
import { LiveSocket } from './socket.ts';

function liveUrl(): string {
  const { protocol, host } = window.location;
  const user = requestUser();
  const query = user === undefined ? '' : `?user=${encodeURIComponent(user)}`;
  return `${protocol === 'https:' ? 'wss:' : 'ws:'}//${host}/live${query}`;
}

export const live = new LiveSocket(liveUrl, () => {
  // A refused upgrade looks like any other broken connection; only the session request tells them apart.
  void refreshSession();
});

live.onState(() => {
  if (live.state === 'open') setProblem(undefined);
});
