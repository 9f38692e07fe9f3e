/** Title of the browser tab. Pure. */

const PRODUCT = 'Tollway';

/**
 * `gateway (admin@192.0.2.1) – Tollway`: the router first, as tabs are cut at the end; then who is logged in and where.
 *
 * @param identity name of the router; empty while it is not known
 * @param user name of the user of the session; undefined without one
 * @param host address and port of the page
 */
export function pageTitle(identity: string, user: string | undefined, host: string): string {
  if (user === undefined) return `${PRODUCT} – ${host}`;
  const who = `${user}@${host}`;
  return identity === '' || identity === PRODUCT ? `${who} – ${PRODUCT}` : `${identity} (${who}) – ${PRODUCT}`;
}
