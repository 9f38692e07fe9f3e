import type { IpSettings } from '@tollway/dataplane-agent';
import type { CompileContext } from '../../compiler/context.js';
import { compileIpv6Settings } from '../../compiler/ipv6-settings.js';
import { Settings } from '../../compiler/settings.js';
import { yesNo } from '../../view/rows.js';
import { type Figures, settingsView } from '../../view/settings.js';
import type { MenuModule } from '../module.js';

function compileSettings(context: CompileContext): IpSettings {
  const settings = new Settings(context, '/ip/settings');
  const ipv6 = compileIpv6Settings(context);
  const rpFilter = settings.word('rp-filter');
  const timestamps = settings.word('tcp-timestamps');
  return {
    'ip-forward': settings.yes('ip-forward'),
    'rp-filter': rpFilter === 'strict' || rpFilter === 'loose' ? rpFilter : 'no',
    // The data plane leaves the default out, too.
    ...(settings.word('ipv4-multipath-hash-policy') === 'l4' && { 'multipath-hash': 'l4' }),
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

/** Fast paths that the IP settings show: prefix of the properties, and name of the handler. */
const HANDLERS = [
  ['ipv4-fast-path', 'ipv4-fast-path'],
  ['ipv4-flow-cache', 'flow-cache'],
  ['ipv4-fasttrack', 'ipv4-fasttrack'],
] as const;

/** Values of the data plane in `/ip/settings`: those of the list of handlers, under RouterOS's names. */
const ipFigures: Figures = ({ 'fast-path': { handlers } }) =>
  Object.fromEntries(
    HANDLERS.flatMap(([prefix, handler]) => {
      const found = handlers.find(({ name }) => name === handler);
      return found === undefined
        ? []
        : [
            [`${prefix}-active`, yesNo(found.active)],
            [`${prefix}-packets`, String(found.packets)],
            [`${prefix}-bytes`, String(found.bytes)],
          ];
    }),
  );

export const ipSettings: MenuModule = {
  path: '/ip/settings',
  compile: (context) => ({ settings: compileSettings(context) }),
  view: (menu, { store, live }) => settingsView(menu, store, live, ipFigures),
};
