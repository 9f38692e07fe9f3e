import type { Menu } from '@tollway/schema';
import type { Users } from '../auth/users.js';
import type { CompileSections } from '../compiler/compile.js';
import type { MenuChecks } from '../config/menu-checks.js';
import type { ConfigStore } from '../config/store.js';
import type { QueueFindings } from '../lint/queue-findings.js';
import type { RouterLog } from '../logging/router-log.js';
import type { MenuCommands } from '../services.js';
import type { CpuLoad } from '../state/cpu-load.js';
import type { LiveState } from '../state/live-state.js';
import type { ReadLive } from '../view/live-rows.js';
import type { View } from '../view/rows.js';

/** Dependencies of views. */
export interface ViewSources {
  readonly store: ConfigStore;
  readonly live: LiveState;
  readonly users: Users;
  readonly log: RouterLog;
  readonly cpuLoad: CpuLoad;
  readonly queueFindings: QueueFindings;
  readonly dataDir: string;
}

/**
 * The implementation of a menu beyond its declaration in `packages/schema`: one file for each, at the path of the menu.
 * A menu that only stores rows needs none.
 */
export interface MenuModule extends MenuChecks, MenuCommands {
  /** Path of the menu. */
  readonly path: string;
  /** Compiler of the menu's sections of the configuration. It may also read rows of other menus. */
  readonly compile?: CompileSections;
  /** Live values of the stored rows, and dynamic rows in menus of source `union`. */
  liveRows?(sources: ViewSources): ReadLive;
  /** The view of the menu, if it does not show its stored rows. */
  view?(menu: Menu, sources: ViewSources): View;
}
