import { PASSWORD, type Router } from './router.js';

/** The history of a router, and rules by which changes of it are seen. */

export const FILTER = '/ip/firewall/filter';
export const QUEUES = '/queue/simple';

export const basic = (name: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
});
export const admin = basic('admin', PASSWORD);

/** Number of the revision that a request made; 0 if it made none. */
export const revisionOf = ({ headers }: { headers: Headers }) => Number(headers.get('x-tollway-revision'));

/** Requests to a router that is there when they are made. */
export function historyOf(router: () => Router) {
  const api = (method: string, path: string, body?: unknown, as: Record<string, string> = admin) =>
    router().request(method, `/api/v1/revisions${path}`, body, as);
  const undo = (revision: number, as = admin) => api('POST', `/${revision}/undo`, undefined, as);
  const rules = async () => (await router().rest('GET', FILTER)).rows.filter((row) => row.dynamic === 'false');
  const comments = async () => (await rules()).map(({ comment }) => comment).join(' ');
  /** Rules with these comments, in this order. */
  const add = async (...names: string[]): Promise<string[]> => {
    const ids: string[] = [];
    for (const comment of names) {
      ids.push((await router().rest('PUT', FILTER, { chain: 'forward', action: 'accept', comment })).id);
    }
    return ids;
  };
  const newestRevision = async (): Promise<number> => Number((await api('GET', '')).rows[0]?.revision);
  /** Takes away what a test has made. */
  const clear = async (): Promise<void> => {
    for (const menu of [FILTER, QUEUES, '/ip/firewall/address-list']) {
      const rows = (await router().rest('GET', `${menu}?dynamic=false`)).rows;
      if (rows.length > 0) await router().rest('POST', `${menu}/remove`, { '.id': rows.map((row) => row['.id']) });
    }
  };
  return { api, undo, rules, comments, add, newestRevision, clear };
}
