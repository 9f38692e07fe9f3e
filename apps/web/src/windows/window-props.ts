import type { Menu } from '@tollway/schema';
import type { NewItem } from '../menu/use-table-actions.ts';

/** Properties of the window of a menu. */
export interface MenuWindowProps {
  readonly menu: Menu;
  readonly density: string;
  readonly onOpen: (id: string) => void;
  readonly onAdd: (start?: NewItem) => void;
  /** Closes the window. */
  readonly onClose: () => void;
  /** Requests to close the window, with a confirmation if it has unsaved changes. */
  readonly onCloseRequest: () => void;
}

/** Properties of a window that belongs to no menu, one of `STANDALONE_WINDOWS`. */
export interface StandaloneWindowProps {
  /** Group of the user: `full`, `write` or `read`. */
  readonly userGroup: string;
  /** Whether the user may perform the action of the window. This may change while it is open. */
  readonly allowed: boolean;
}
