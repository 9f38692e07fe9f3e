import { effective } from '../../compiler/context.js';
import { type FieldError, fieldError, type ProposedRow } from '../../config/proposed-row.js';
import { fastPathFigures } from '../../view/fast-path.js';
import { settingsView } from '../../view/settings.js';
import type { MenuModule } from '../module.js';

const MENU = '/ipv6/settings';

/** Numbers of neighbours, ascending. */
const LIMITS = ['min-neighbor-entries', 'soft-max-neighbor-entries', 'max-neighbor-entries'];

/** Each limit is at most the next one; the error names one that the request gives. */
function checkSettings({ values, given }: ProposedRow): FieldError | undefined {
  const row = { id: 0, values, disabled: false, comment: '' };
  const limits = LIMITS.map((property) => [property, Number(effective(MENU, row, property))] as const);
  for (const [at, [property, limit]] of limits.entries()) {
    const [above, most] = limits[at + 1] ?? [property, limit];
    if (limit <= most) continue;
    return given.has(property)
      ? fieldError(property, `value of ${property}: ${limit} is more than ${above}; give 0..${most}`)
      : fieldError(above, `value of ${above}: ${most} is less than ${property}; give ${limit} or more`);
  }
  return undefined;
}

/** What it holds is compiled with `/ip/settings`: they are one section of the configuration. */
export const ipv6Settings: MenuModule = {
  path: MENU,
  check: checkSettings,
  view: (menu, { store, live }) => settingsView(menu, store, live, fastPathFigures('ipv6')),
};
