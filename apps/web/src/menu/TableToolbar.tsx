import type { ReactNode, RefObject } from 'react';
import { Icon } from '../ui/icons.tsx';
import { loadOnOpen } from '../ui/load-on-open.ts';
import { ToolButton } from '../ui/ToolButton.tsx';
import { ORIGINS, offeredValues, type QuickFilter } from './quick-filter.ts';
import type { TableCommand } from './table-commands.ts';

interface ToolbarProps {
  readonly title: string;
  readonly commands: {
    readonly standard: readonly TableCommand[];
    readonly moves: readonly TableCommand[];
    readonly special: readonly TableCommand[];
  };
  readonly find: string;
  readonly findBox: RefObject<HTMLInputElement | null>;
  readonly filtering: boolean;
  /** Whether the menu is shown as a tree; undefined for a menu that is no tree. */
  readonly tree: boolean | undefined;
  readonly onTree: () => void;
  readonly quickFilter: QuickFilter | undefined;
  readonly choice: string;
  readonly choices: readonly string[];
  /** Additional buttons of the window. */
  readonly more?: ReactNode;
  readonly onFind: (text: string) => void;
  /** Called when the user leaves the find box for the rows. */
  readonly onLeaveFind: () => void;
  readonly onFilter: () => void;
  /** Called before the choices of the quick filter are shown. */
  readonly onQuickFilter: () => void;
  readonly onChoose: (value: string) => void;
  readonly onColumns: () => void;
  /** Opens the menu of all commands at a point of the page. */
  readonly onMenu: (at: { readonly x: number; readonly y: number }) => void;
}

/** The line of commands above a table. Commands that the menu does not have are absent. */
export function TableToolbar(props: ToolbarProps) {
  const { title, commands, find } = props;
  return (
    <div className="toolbar" role="toolbar" aria-label={`${title} commands`}>
      {[...commands.standard, ...commands.moves].map((command) => (
        <CommandButton key={command.name} command={command} />
      ))}
      <ToolButton name="Filter" icon="filter" pressed={props.filtering} onPress={props.onFilter} />
      {props.tree !== undefined && <ToolButton name="Tree" icon="tree" pressed={props.tree} onPress={props.onTree} />}
      <span className="toolbar-special">
        {commands.special.map((command) => (
          <CommandButton key={command.name} command={command} />
        ))}
      </span>
      {props.more}
      <span className="toolbar-end">
        <label className="find">
          <Icon name="search" />
          <input
            ref={props.findBox}
            type="search"
            aria-label="Find"
            placeholder="Find"
            title="Find in all columns (Ctrl+F), next one (F3)"
            value={find}
            onChange={(event) => props.onFind(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' || event.key === 'ArrowDown') props.onLeaveFind();
              else if (event.key === 'Escape' && find !== '') props.onFind('');
              else return;
              event.preventDefault();
              event.stopPropagation();
            }}
          />
        </label>
        <QuickFilterList {...props} />
        <ToolButton name="Columns" icon="columns" onPress={props.onColumns} />
        <button
          type="button"
          className="tool"
          aria-label="All commands"
          aria-haspopup="menu"
          title="All commands (right click on a row)"
          onClick={(event) => {
            const { left, bottom } = event.currentTarget.getBoundingClientRect();
            props.onMenu({ x: left, y: bottom + 2 });
          }}
        >
          <Icon name="more" />
        </button>
      </span>
    </div>
  );
}

function CommandButton({ command }: { readonly command: TableCommand }) {
  const { label, icon, shortcut, disabledReason, run } = command;
  return (
    <ToolButton
      name={label}
      {...(icon === undefined ? {} : { icon })}
      {...(shortcut === undefined ? {} : { shortcut })}
      disabledReason={disabledReason}
      onPress={run}
    />
  );
}

function QuickFilterList({ quickFilter, choice, choices, onQuickFilter, onChoose }: ToolbarProps) {
  if (quickFilter === undefined) return null;
  return (
    <select
      className="quick-filter"
      aria-label={quickFilter.label}
      title={quickFilter.label}
      value={choice}
      {...loadOnOpen(onQuickFilter)}
      onChange={(event) => onChoose(event.target.value)}
    >
      <option value="">{quickFilter.all}</option>
      {offeredValues(choice, choices).map((option) => (
        <option key={option}>{option}</option>
      ))}
      {quickFilter.origins && (
        <optgroup label="Origin">
          {Object.entries(ORIGINS).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </optgroup>
      )}
    </select>
  );
}
