import { createRoot } from 'react-dom/client';
import { useSession } from './api/session.ts';
import { App } from './shell/App.tsx';
import { applyAppearance } from './shell/appearance.ts';
import { followZone } from './ui/router-clock.ts';
import { suppressStrayPresses } from './ui/stray-presses.ts';
import './ui/tokens.css';
import './ui/widgets.css';
import './ui/chart.css';
import './shell/shell.css';
import './shell/palette.css';
import './shell/login.css';
import './wm/wm.css';
import './menu/table.css';
import './menu/rows.css';
import './menu/form.css';

applyAppearance();
suppressStrayPresses();
// Before the first rendering that depends on the session.
useSession.subscribe((session) => {
  if (session.phase === 'in') followZone(session.timeZone);
});
const root = document.getElementById('root');
if (root !== null) createRoot(root).render(<App />);
