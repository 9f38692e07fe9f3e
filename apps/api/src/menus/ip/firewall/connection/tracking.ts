import type { Tracking } from '@tollway/dataplane-agent';
import type { CompileContext } from '../../../../compiler/context.js';
import { Settings } from '../../../../compiler/settings.js';
import { yesNo } from '../../../../view/rows.js';
import { type Figures, settingsView } from '../../../../view/settings.js';
import type { MenuModule } from '../../../module.js';

/** Size of the connection table over all workers, entries. */
const CONNECTION_TABLE_ENTRIES = 262_144;

function compileTracking(context: CompileContext): Tracking {
  const settings = new Settings(context, '/ip/firewall/connection/tracking');
  const enabled = settings.word('enabled');
  return {
    enabled: enabled === 'yes' || enabled === 'no' ? enabled : 'auto',
    'tcp-syn-sent-timeout-ms': settings.ms('tcp-syn-sent-timeout'),
    'tcp-syn-received-timeout-ms': settings.ms('tcp-syn-received-timeout'),
    'tcp-established-timeout-ms': settings.ms('tcp-established-timeout'),
    'tcp-fin-wait-timeout-ms': settings.ms('tcp-fin-wait-timeout'),
    'tcp-close-wait-timeout-ms': settings.ms('tcp-close-wait-timeout'),
    'tcp-last-ack-timeout-ms': settings.ms('tcp-last-ack-timeout'),
    'tcp-time-wait-timeout-ms': settings.ms('tcp-time-wait-timeout'),
    'tcp-close-timeout-ms': settings.ms('tcp-close-timeout'),
    'tcp-max-retrans-timeout-ms': settings.ms('tcp-max-retrans-timeout'),
    'tcp-unacked-timeout-ms': settings.ms('tcp-unacked-timeout'),
    'loose-tcp-tracking': settings.yes('loose-tcp-tracking'),
    'liberal-tcp-tracking': settings.yes('liberal-tcp-tracking'),
    'udp-timeout-ms': settings.ms('udp-timeout'),
    'udp-stream-timeout-ms': settings.ms('udp-stream-timeout'),
    'icmp-timeout-ms': settings.ms('icmp-timeout'),
    'generic-timeout-ms': settings.ms('generic-timeout'),
    'max-entries': CONNECTION_TABLE_ENTRIES,
  };
}

/** Values of the data plane in `/ip/firewall/connection/tracking`. */
const trackingFigures: Figures = ({ tracking: t }) => ({
  'active-ipv4': yesNo(t.active),
  'max-entries': String(t['max-entries']),
  'worker-max-entries': String(t['worker-max-entries']),
  'worker-entries': String(t['worker-entries']),
  'total-entries': String(t['ip4-entries'] + t['ip6-entries']),
  'total-ip4-entries': String(t['ip4-entries']),
});

export const connectionTracking: MenuModule = {
  path: '/ip/firewall/connection/tracking',
  compile: (context) => ({ tracking: compileTracking(context) }),
  view: (menu, { store, live }) => settingsView(menu, store, live, trackingFigures),
};
