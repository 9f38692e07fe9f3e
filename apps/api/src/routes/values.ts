import { MAX_VALUES, type Values, values } from '@tollway/protocol/values';
import type { FastifyInstance } from 'fastify';
import { errors } from '../errors.js';
import { clientGone } from '../plugins/auth.js';
import type { ProtocolTypes } from '../plugins/validation.js';
import { acquireRows } from '../rest/long-list.js';
import { startSlicer, type TimeSlicer } from '../scheduling/time-slicer.js';
import type { Services } from '../services.js';
import type { RowSet } from '../view/rows.js';

/** `?menu=/ip/firewall/address-list&property=list`: the distinct values of a property, as suggestions for fields. */
export function valuesRoute(app: FastifyInstance, { views, lists }: Services): void {
  const routes = app.withTypeProvider<ProtocolTypes>();
  routes.get(values.path, { schema: { querystring: values.query } }, async (request, reply): Promise<Values> => {
    const { menu, property = '' } = request.query;
    const view = views.get(menu);
    if (view === undefined) throw errors.badProperty('menu', 'menu must be the path of a menu, e.g. /interface');
    const { userId } = request.principal;
    const gone = clientGone(reply);
    // Suggestions may be some seconds old.
    const rows = await acquireRows(() => view(5_000), lists, userId, gone);
    return differentValues(rows, property, await startSlicer(gone, userId));
  });
}

async function differentValues(rows: RowSet, property: string, slicer: TimeSlicer): Promise<readonly string[]> {
  const known = await rows.distinct?.(property, slicer);
  if (known !== undefined) return known.slice(0, MAX_VALUES);
  await rows.prepareValues?.((name) => name === property, slicer);
  const different = new Set<string>();
  for (let index = 0; index < rows.length && different.size < MAX_VALUES; index += 1) {
    if (slicer.overAt(index)) await slicer.pause();
    const value = rows.value(index, property);
    if (value !== undefined && value !== '') different.add(value);
  }
  return [...different];
}
