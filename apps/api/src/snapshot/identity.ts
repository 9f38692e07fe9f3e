import type { ConfigSnapshot } from './snapshot.js';

/** Name of the router: that of `/system/identity`, or its default. */
export const identityOf = (snapshot: ConfigSnapshot): string =>
  snapshot.get('/system/identity')?.[0]?.values.name ?? 'Tollway';
