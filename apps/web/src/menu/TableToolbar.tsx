import type { Menu } from '@tollway/schema';
import type { ReactNode, RefObject } from 'react';
import type { Row } from '../api/row.ts';
import { Icon } from '../ui/icons.tsx';
import { ToolButton } from '../ui/ToolButton.tsx';
import { actsOnAll, commandLabel, specialCommands, whyNot } from './actions.ts';

export interface ToolbarProps {
  readonly menu: Menu;
  /** Selected rows that are loaded, and how many are selected in all. */
  readonly rows: readonly Row[];
  readonly count: number;
  readonly find: string;
  readonly findBox: RefObject<HTMLInputElement | null>;
  readonly filtering: boolean;
  /** Choices of the chooser at the right end, e.g. chains; none when the menu has no chooser. */
  readonly chooser: { readonly label: string; readonly value: string; readonly options: readonly string[] } | undefined;
  readonly onAdd: () => void;
  readonly onCommand: (command: string) => void;
  readonly onMove: (by: -1 | 1) => void;
  readonly onFind: (text: string) => void;
  readonly onFilter: () => void;
  readonly onChoose: (value: string) => void;
  readonly onColumns: () => void;
  /** Buttons of the window alone. */
  readonly more?: ReactNode;
}

const STANDARD = [
  { command: 'remove', name: 'Remove', icon: 'remove', shortcut: 'Delete' },
  { command: 'enable', name: 'Enable', icon: 'enable', shortcut: 'Ctrl+E' },
  { command: 'disable', name: 'Disable', icon: 'disable', shortcut: 'Ctrl+D' },
  { command: 'comment', name: 'Comment', icon: 'comment', shortcut: 'Ctrl+M' },
] as const;

/** The line of commands above a table. Commands that the menu does not have are absent. */
export function TableToolbar(props: ToolbarProps) {
  const { menu, rows, count, chooser } = props;
  const why = (command: string) => whyNot(menu, command, rows, count);
  return (
    <div className="toolbar" role="toolbar" aria-label={`${menu.title} commands`}>
      {menu.commands.includes('add') && <ToolButton name="Add" icon="add" shortcut="Insert" onPress={props.onAdd} />}
      {STANDARD.filter(({ command }) => menu.commands.includes(command)).map(({ command, name, icon, shortcut }) => (
        <ToolButton
          key={command}
          name={name}
          icon={icon}
          shortcut={shortcut}
          disabledReason={why(command)}
          onPress={() => props.onCommand(command)}
        />
      ))}
      {menu.commands.includes('move') && (
        <>
          <ToolButton
            name="Move up"
            icon="up"
            shortcut="Alt+↑"
            disabledReason={why('move')}
            onPress={() => props.onMove(-1)}
          />
          <ToolButton
            name="Move down"
            icon="down"
            shortcut="Alt+↓"
            disabledReason={why('move')}
            onPress={() => props.onMove(1)}
          />
        </>
      )}
      <ToolButton name="Filter" icon="filter" pressed={props.filtering} onPress={props.onFilter} />
      {specialCommands(menu).map((command) => (
        <ToolButton
          key={command}
          name={commandLabel(command)}
          disabledReason={actsOnAll(command) ? undefined : why(command)}
          onPress={() => props.onCommand(command)}
        />
      ))}
      {props.more}
      <span className="toolbar-end">
        <label className="find">
          <Icon name="search" />
          <input
            ref={props.findBox}
            type="search"
            aria-label="Find"
            placeholder="Find"
            title="Find in all columns (Ctrl+F)"
            value={props.find}
            onChange={(event) => props.onFind(event.target.value)}
          />
        </label>
        {chooser !== undefined && (
          <select
            className="chooser"
            aria-label={chooser.label}
            title={chooser.label}
            value={chooser.value}
            onChange={(event) => props.onChoose(event.target.value)}
          >
            <option value="">all</option>
            {chooser.options.map((option) => (
              <option key={option}>{option}</option>
            ))}
          </select>
        )}
        <ToolButton name="Columns" icon="columns" onPress={props.onColumns} />
      </span>
    </div>
  );
}
