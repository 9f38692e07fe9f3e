/** The page's one live connection. */
import { followProblem, refreshSession } from './session.ts';
import { LiveSocket } from './socket.ts';

function liveUrl(): string {
  const { protocol, host } = window.location;
  return `${protocol === 'https:' ? 'wss:' : 'ws:'}//${host}/live`;
}

export const live = new LiveSocket(liveUrl, () => {
  // A refused upgrade looks like any other broken connection; only the session request tells them apart.
  void refreshSession();
});

live.onState(() => {
  if (live.state === 'open') followProblem(undefined);
});
