/** The menu tree at the left. Up and Down move, Right and Left unfold and fold, Enter opens. */
import { type KeyboardEvent, useRef, useState } from 'react';
import { readStored, writeStored } from '../ui/browser-storage.ts';
import { Icon } from '../ui/icons.tsx';
import { windowDefinitions } from '../windows/window-definitions.ts';
import { buildTree, type TreeLine, visibleLines } from './menu-tree.ts';

const branches = buildTree(windowDefinitions);

const NAME = 'tree-closed';

/** The branches that were folded when the page was last open. */
function closedBefore(): ReadonlySet<string> {
  return new Set(readStored(NAME)?.split('\n'));
}

interface Props {
  /** Address of the window that is active. */
  readonly current: string | undefined;
  readonly onGo: (address: string) => void;
}

/** The next line that begins with a letter, continuing at the first line (ARIA Authoring Practices, Tree View). */
function startingWith(lines: readonly TreeLine[], at: number, letter: string): TreeLine | undefined {
  const wanted = letter.toLowerCase();
  const around = [...lines.slice(at + 1), ...lines.slice(0, at + 1)];
  return around.find(({ branch }) => branch.label.toLowerCase().startsWith(wanted));
}

export function MenuTree({ current, onGo }: Props) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(closedBefore);
  const [focus, setFocus] = useState<string>();
  const list = useRef<HTMLDivElement>(null);
  const lines = visibleLines(branches, closed);
  const active = lines.some((line) => line.branch.key === focus)
    ? focus
    : (lines.find((line) => line.branch.address === current) ?? lines[0])?.branch.key;

  function toggle(key: string, open: boolean) {
    const next = new Set(closed);
    if (open) next.delete(key);
    else next.add(key);
    setClosed(next);
    writeStored(NAME, [...next].join('\n'));
  }

  function focusOn(line: TreeLine | undefined) {
    if (line === undefined) return;
    setFocus(line.branch.key);
    const element = list.current?.querySelector(`[data-key="${CSS.escape(line.branch.key)}"]`);
    if (element instanceof HTMLElement) element.focus();
  }

  function press({ branch }: TreeLine) {
    if (branch.address !== undefined) onGo(branch.address);
    else toggle(branch.key, closed.has(branch.key));
  }

  function onKeyDown(event: KeyboardEvent) {
    const at = lines.findIndex((line) => line.branch.key === active);
    const line = lines[at];
    if (line === undefined) return;
    const { branch, parent } = line;
    const open = branch.children.length > 0 && !closed.has(branch.key);
    switch (event.key) {
      case 'ArrowDown':
        focusOn(lines[at + 1]);
        break;
      case 'ArrowUp':
        focusOn(lines[at - 1]);
        break;
      case 'Home':
        focusOn(lines[0]);
        break;
      case 'End':
        focusOn(lines.at(-1));
        break;
      case 'ArrowRight':
        if (branch.children.length > 0 && !open) toggle(branch.key, true);
        else if (open) focusOn(lines[at + 1]);
        break;
      case 'ArrowLeft':
        if (open) toggle(branch.key, false);
        else focusOn(lines.find((other) => other.branch.key === parent));
        break;
      case 'Enter':
      case ' ':
        press(line);
        break;
      default:
        if (event.key.length !== 1 || event.ctrlKey || event.altKey || event.metaKey) return;
        focusOn(startingWith(lines, at, event.key));
    }
    event.preventDefault();
  }

  return (
    <nav className="menu-tree" aria-label="Menus">
      <div ref={list} role="tree" aria-label="Menus">
        {lines.map((line) => {
          const { branch, level } = line;
          const folder = branch.children.length > 0;
          const here = branch.address !== undefined && branch.address === current;
          return (
            <div
              key={branch.key}
              role="treeitem"
              data-key={branch.key}
              aria-level={level}
              aria-expanded={folder ? !closed.has(branch.key) : undefined}
              aria-selected={here}
              aria-current={here ? 'page' : undefined}
              tabIndex={branch.key === active ? 0 : -1}
              className={`tree-line tree-level-${level}${folder ? ' tree-folder' : ''}`}
              onClick={() => {
                setFocus(branch.key);
                press(line);
              }}
              onKeyDown={onKeyDown}
            >
              {folder && <Icon name={closed.has(branch.key) ? 'unfold' : 'fold'} />}
              <span>{branch.label}</span>
            </div>
          );
        })}
      </div>
    </nav>
  );
}
