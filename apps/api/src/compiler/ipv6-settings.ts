import type { Ipv6Settings, NeighborCollection } from '@tollway/dataplane-agent';
import type { CompileContext } from './context.js';
import { multipathHash, Settings } from './settings.js';

/** What the data plane has without these settings, which are then left out. */
const DEFAULTS = { 'disable-ipv6': false, forward: true, 'max-neighbor-entries': 8192 } as const;

const COLLECTION: readonly (readonly [keyof NeighborCollection, number])[] = [
  ['stale-timeout-s', 60],
  ['detect-interval-s', 30],
  ['min-entries', 2048],
  ['soft-max-entries', 4096],
];

/** Whether the router does as a host does: if it is set so, or while it forwards nothing. */
function accepts(settings: Settings, property: string): boolean {
  const word = settings.word(property);
  return word === 'yes' || (word === 'yes-if-forwarding-disabled' && !settings.yes('forward'));
}

/** `/ipv6/settings`, which are part of the settings of the data plane; undefined while all have their defaults. */
export function compileIpv6Settings(context: CompileContext): Ipv6Settings | undefined {
  const settings = new Settings(context, '/ipv6/settings');
  const collection: NeighborCollection = {
    'stale-timeout-s': settings.integer('stale-neighbor-timeout'),
    'detect-interval-s': settings.integer('stale-neighbor-detect-interval'),
    'min-entries': settings.integer('min-neighbor-entries'),
    'soft-max-entries': settings.integer('soft-max-neighbor-entries'),
  };
  const isDefaultCollection = COLLECTION.every(([property, value]) => collection[property] === value);
  const list = settings.word('accept-router-advertisements-on');
  const listening = accepts(settings, 'accept-router-advertisements') ? (context.interfaces.list(list) ?? []) : [];
  const compiled: Ipv6Settings = {
    'disable-ipv6': settings.yes('disable-ipv6'),
    forward: settings.yes('forward'),
    'max-neighbor-entries': settings.integer('max-neighbor-entries'),
    // The data plane leaves defaults out, too.
    ...multipathHash(settings, 'multipath-hash-policy'),
    ...(!settings.yes('allow-fast-path') && { 'allow-fast-path': false }),
    ...(settings.yes('disable-link-local-address') && { 'disable-link-local-address': true }),
    ...(accepts(settings, 'accept-redirects') && { 'accept-redirects': true }),
    ...(listening.length > 0 && { 'accept-advertisements-on': [...listening] }),
    ...(!isDefaultCollection && { 'neighbor-collection': collection }),
  };
  const isDefault =
    Object.keys(compiled).length === Object.keys(DEFAULTS).length &&
    compiled['disable-ipv6'] === DEFAULTS['disable-ipv6'] &&
    compiled.forward === DEFAULTS.forward &&
    compiled['max-neighbor-entries'] === DEFAULTS['max-neighbor-entries'];
  return isDefault ? undefined : compiled;
}
