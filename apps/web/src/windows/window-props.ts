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
  /** Closes it too, but asks first when something in it is not stored. */
  readonly onCloseRequest: () => void;
}

/** Properties of a window that belongs to no menu, one of `STANDALONE_WINDOWS`. */
export interface StandaloneWindowProps {
  /** Group of the user: `full`, `write` or `read`. */
  readonly userGroup: string;
  /** The user may do what the window is for. That can change while it is open. */
  readonly allowed: boolean;
}
