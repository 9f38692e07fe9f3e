import { type Menu, printSwitches, SWITCH_VALUES, VALUED_SWITCHES } from '@tollway/schema';
import { argumentText } from '../../config/content.js';
import { errors } from '../../errors.js';
import { MAX_WORDS, QueryError, queryTest, type Test } from '../../query/query.js';
import { startSlicer } from '../../scheduling/time-slicer.js';
import type { Answer, Call } from '../../services.js';
import { isNamed, projection, proplistOf } from '../listing.js';
import { countOf, listOf, rowsToSend } from '../long-list.js';

/** Arguments of `print` that have an effect. */
const KNOWN = ['.proplist', '.query', 'count-only'];

/**
 * `print`: the items that pass `.query`, or their number. Print switches such as `detail` and `stats` have no effect.
 * Other arguments are refused, as in RouterOS they would select items or wait for changes, such as `dynamic` and
 * `follow`.
 */
export async function print({ services, menu, args, signal, principal }: Call): Promise<Answer> {
  const view = services.views.get(menu.path);
  if (view === undefined) throw errors.noSuchCommand('print');
  const switches = printSwitches(menu);
  for (const [name, value] of Object.entries(args)) {
    if (KNOWN.includes(name) || VALUED_SWITCHES.includes(name)) continue;
    if (!switches.includes(name)) throw errors.unknownParameter(name);
    if (!SWITCH_VALUES.some((known) => known === value)) {
      throw errors.badProperty(name, `value of ${name}: a switch is empty, true, false, yes or no`);
    }
  }
  const words = queryWords(args['.query']);
  const names = proplistOf(args['.proplist']);
  const counted = switchedOn(args['count-only']);
  const isRequested = (property: string) =>
    (!counted && isNamed(names, property)) || words.some((word) => word.includes(property));
  const rows = await rowsToSend(view, isRequested, services.lists, principal.userId, signal);
  const slicer = await startSlicer(signal, principal.userId);
  await rows.prepareValues?.(isRequested, slicer);
  const test = words.length === 0 ? undefined : testOf(menu, words);
  if (counted) return { ret: String(await countOf(rows, test, slicer)) };
  return listOf(rows, test, projection(names), slicer);
}

/** Whether a switch is on: every value other than `false` and `no` turns it on. */
const switchedOn = (value: unknown): boolean =>
  value !== undefined && value !== false && value !== 'false' && value !== 'no';

function testOf(menu: Menu, words: readonly string[]): Test {
  try {
    return queryTest(menu, words);
  } catch (error) {
    throw error instanceof QueryError ? errors.badProperty('.query', error.message) : error;
  }
}

function queryWords(value: unknown): string[] {
  if (value === undefined || value === '') return [];
  if (Array.isArray(value)) return value.map((word) => argumentText('.query', word));
  return argumentText('.query', value).split(',', MAX_WORDS + 1);
}
