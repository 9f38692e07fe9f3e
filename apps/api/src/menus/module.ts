import type { Menu } from '@tollway/schema';
import type { Users } from '../auth/users.js';
import type { CompileSections } from '../compiler/compile.js';
import type { MenuChecks } from '../config/menu-checks.js';
import type { ConfigStore } from '../config/store.js';
import type { QueueHints } from '../lint/queue-hints.js';
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
  readonly hints: QueueHints;
  readonly dataDir: string;
}

/**
 * The implementation of a menu beyond its declaration in `packages/schema`: one file for each, at the path of the menu. A
 * menu of stored rows alone needs none.
 */
export interface MenuModule extends MenuChecks, MenuCommands {
  /** Path of the menu. */
  readonly path: string;
  /** Compiler of its sections of the configuration. Rows of other menus are read, too. */
  readonly compile?: CompileSections;
  /** What is shown beside its stored rows: their live values, and rows of the system in menus of source `union`. */
  liveRows?(sources: ViewSources): ReadLive;
  /** Its view, where the rows that it shows are not those that it stores. */
  view?(menu: Menu, sources: ViewSources): View;
}
