import type { IpSettings } from '@tollway/dataplane-agent';
import type { CompileContext } from '../../compiler/context.js';
import { compileIpv6Settings } from '../../compiler/ipv6-settings.js';
import { multipathHash, Settings } from '../../compiler/settings.js';
import { fastPathFigures } from '../../view/fast-path.js';
import { settingsView } from '../../view/settings.js';
import type { MenuModule } from '../module.js';

function compileSettings(context: CompileContext): IpSettings {
  const settings = new Settings(context, '/ip/settings');
  const ipv6 = compileIpv6Settings(context);
  const rpFilter = settings.word('rp-filter');
  const timestamps = settings.word('tcp-timestamps');
  return {
    'ip-forward': settings.yes('ip-forward'),
    'rp-filter': rpFilter === 'strict' || rpFilter === 'loose' ? rpFilter : 'no',
    ...multipathHash(settings, 'ipv4-multipath-hash-policy'),
    'allow-fast-path': settings.yes('allow-fast-path'),
    'fasttrack-mode': settings.word('fasttrack-mode') === 'bypass' ? 'bypass' : 'cached',
    'flow-offload': settings.yes('flow-offload'),
    'max-neighbor-entries': settings.integer('max-neighbor-entries'),
    'arp-timeout-ms': settings.ms('arp-timeout'),
    'icmp-rate-limit-ms': settings.integer('icmp-rate-limit'),
    'icmp-rate-mask': settings.integer('icmp-rate-mask'),
    'icmp-errors-use-inbound-interface-address': settings.yes('icmp-errors-use-inbound-interface-address'),
    'send-redirects': settings.yes('send-redirects'),
    'accept-redirects': settings.yes('accept-redirects'),
    'secure-redirects': settings.yes('secure-redirects'),
    'accept-source-route': settings.yes('accept-source-route'),
    'fragment-bytes': settings.integer('ipv4-high-fragment-thresh'),
    'fragment-time-ms': settings.integer('ipv4-fragment-time') * 1_000,
    'tcp-syncookies': settings.yes('tcp-syncookies'),
    'tcp-timestamps': timestamps === 'disabled' || timestamps === 'enabled' ? timestamps : 'random-offset',
    ...(ipv6 !== undefined && { ipv6 }),
  };
}

export const ipSettings: MenuModule = {
  path: '/ip/settings',
  compile: (context) => ({ settings: compileSettings(context) }),
  view: (menu, { store, live }) => settingsView(menu, store, live, fastPathFigures('ip')),
};
