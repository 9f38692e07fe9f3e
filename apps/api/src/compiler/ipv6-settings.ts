import type { Ipv6Settings } from '@tollway/dataplane-agent';
import type { CompileContext } from './context.js';
import { Settings } from './settings.js';

/** What the data plane has without these settings, which are then left out. */
const DEFAULTS = { 'disable-ipv6': false, forward: true, 'max-neighbor-entries': 8192 } as const;

/** `/ipv6/settings`, which are part of the settings of the data plane; undefined while all have their defaults. */
export function compileIpv6Settings(context: CompileContext): Ipv6Settings | undefined {
  const settings = new Settings(context, '/ipv6/settings');
  const compiled: Ipv6Settings = {
    'disable-ipv6': settings.yes('disable-ipv6'),
    forward: settings.yes('forward'),
    'max-neighbor-entries': settings.integer('max-neighbor-entries'),
    // The data plane leaves defaults out, too.
    ...(settings.word('multipath-hash-policy') === 'l4' && { 'multipath-hash': 'l4' }),
    ...(settings.yes('disable-link-local-address') && { 'disable-link-local-address': true }),
  };
  const isDefault =
    Object.keys(compiled).length === Object.keys(DEFAULTS).length &&
    compiled['disable-ipv6'] === DEFAULTS['disable-ipv6'] &&
    compiled.forward === DEFAULTS.forward &&
    compiled['max-neighbor-entries'] === DEFAULTS['max-neighbor-entries'];
  return isDefault ? undefined : compiled;
}
