/** Check boxes for the columns of a table, shown beside the table, which remains usable. */
import { type Menu, menuColumn } from '@tollway/schema';
import { useEffect, useRef, useState } from 'react';
import { ToolButton } from '../ui/ToolButton.tsx';
import {
  type ColumnLayout,
  type ColumnMeasurements,
  filledColumns,
  possibleColumns,
  shownColumns,
  toggleColumn,
} from './columns.ts';

interface Props {
  readonly menu: Menu;
  readonly layout: ColumnLayout;
  readonly measurements: ColumnMeasurements;
  readonly onLayout: (layout: ColumnLayout) => void;
  readonly onClose: () => void;
}

export function ColumnChooser({ menu, layout, measurements, onLayout, onClose }: Props) {
  const [find, setFind] = useState('');
  const search = useRef<HTMLInputElement>(null);
  useEffect(() => search.current?.focus(), []);
  const shown = shownColumns(menu, layout);
  const seen = filledColumns(menu, layout, measurements);
  const wanted = find.trim().toLowerCase();
  const columns = possibleColumns(menu)
    .map((name) => ({ name, label: menuColumn(menu, name)?.label ?? name }))
    .filter(({ name, label }) => label.toLowerCase().includes(wanted) || name.includes(wanted));
  return (
    <div
      role="dialog"
      aria-label={`Columns of ${menu.title}`}
      className="column-chooser"
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.preventDefault();
        event.stopPropagation();
        onClose();
      }}
    >
      <header>
        <input
          ref={search}
          type="search"
          aria-label="Find a column"
          placeholder="Find a column"
          value={find}
          onChange={(event) => setFind(event.target.value)}
        />
        <ToolButton name="Close columns" icon="close" onPress={onClose} />
      </header>
      <div className="column-list">
        {columns.map(({ name, label }) => (
          <label key={name} className="check">
            <input
              type="checkbox"
              checked={seen.includes(name)}
              onChange={() => onLayout(toggleColumn(menu, layout, name, measurements))}
            />
            {label}
            {shown.includes(name) && !seen.includes(name) && <span className="column-note">empty</span>}
          </label>
        ))}
        {columns.length === 0 && <p className="form-note">No column has this name.</p>}
      </div>
      <footer>
        <button type="button" className="button" onClick={() => onLayout({})}>
          Reset to default
        </button>
      </footer>
    </div>
  );
}
