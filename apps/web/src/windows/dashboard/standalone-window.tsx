/** Overview of the router. Each tile opens the window with the details. */
import { useLinks } from '../open-window.ts';
import { CoresTile } from './CoresTile.tsx';
import './dashboard.css';
import { ConnectionsTile, DropsTile, FasttrackTile } from './figures.tsx';
import { RouterHealth } from './RouterHealth.tsx';
import { ThroughputTile } from './ThroughputTile.tsx';
import { TopInterfaces, TopQueues } from './TopTables.tsx';

export default function Dashboard() {
  const onLink = useLinks();
  return (
    // biome-ignore lint/a11y: the links inside take the keyboard; this only keeps their clicks in the page
    <div className="dashboard" onClick={onLink}>
      <div className="dashboard-tiles">
        <RouterHealth />
        <ThroughputTile />
        <CoresTile />
        <ConnectionsTile />
        <FasttrackTile />
        <DropsTile />
        <TopInterfaces />
        <TopQueues />
      </div>
    </div>
  );
}
