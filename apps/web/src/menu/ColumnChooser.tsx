import { type Menu, menuColumn } from '@tollway/schema';
import { ModalDialog } from '../ui/ModalDialog.tsx';
import { type Layout, possibleColumns, shownColumns, toggleColumn } from './columns.ts';

interface Props {
  readonly menu: Menu;
  readonly layout: Layout;
  readonly onLayout: (layout: Layout) => void;
  readonly onClose: () => void;
}

/** Ticks for the columns of a table. */
export function ColumnChooser({ menu, layout, onLayout, onClose }: Props) {
  const shown = shownColumns(menu, layout);
  return (
    <ModalDialog title={`Columns of ${menu.title}`} size="small" onClose={onClose}>
      <div className="column-list">
        {possibleColumns(menu).map((name) => (
          <label key={name} className="check">
            <input
              type="checkbox"
              checked={shown.includes(name)}
              onChange={() => onLayout(toggleColumn(menu, layout, name))}
            />
            {menuColumn(menu, name)?.label ?? name}
          </label>
        ))}
      </div>
      <footer className="modal-foot">
        <button type="button" className="button" onClick={() => onLayout({})}>
          Reset to default
        </button>
        <button type="button" className="button button-primary" onClick={onClose}>
          Close
        </button>
      </footer>
    </ModalDialog>
  );
}
