import type { FastifyInstance } from 'fastify';
import type { Services } from '../rest/services.js';

/** Revisions listed at most. */
const LIMIT = 1000;

/** The history of the configuration, newest first. */
export function revisionRoutes(app: FastifyInstance, { db }: Services): void {
  app.get('/api/v1/revisions', async () => {
    const rows = await db.revision.findMany({
      orderBy: { number: 'desc' },
      take: LIMIT,
      select: { number: true, author: true, time: true, summary: true },
    });
    return rows.map(({ number, author, time, summary }) => ({
      revision: number,
      author,
      time: time.toISOString(),
      summary,
    }));
  });
}
