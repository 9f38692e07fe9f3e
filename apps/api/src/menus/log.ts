import { type Handler, NOTHING } from '../services.js';
import { logView } from '../view/log.js';
import type { MenuModule } from './module.js';

/** `/log/info` and its siblings: writes a line. */
const writer =
  (severity: string): Handler =>
  async ({ services, values }) => {
    services.log.add(`script,${severity}`, values.message ?? '');
    return NOTHING;
  };

export const log: MenuModule = {
  path: '/log',
  view: (_, sources) => logView(sources.log),
  commands: { debug: writer('debug'), info: writer('info'), warning: writer('warning'), error: writer('error') },
};
