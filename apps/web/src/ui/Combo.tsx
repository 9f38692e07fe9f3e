/** A text field with a list of choices. Typing narrows the list; any text may be entered. */
import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { Icon } from './icons.tsx';

interface Props {
  readonly id: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly disabled?: boolean;
  readonly invalid?: boolean;
  readonly describedBy?: string | undefined;
  readonly label?: string;
  readonly placeholder?: string;
  readonly onChange: (value: string) => void;
  /** The list is about to open: options may be fetched. */
  readonly onOpen?: () => void;
}

/** Height of the longest list, and space between it and its field, px. */
const MAX_PX = 220;
const GAP_PX = 2;

/** Choices that fit what was typed; all of them until something is typed. */
function matching(options: readonly string[], typed: string | undefined): readonly string[] {
  if (typed === undefined || typed === '') return options;
  const wanted = typed.toLowerCase();
  return options.filter((option) => option.toLowerCase().includes(wanted));
}

export function Combo(props: Props) {
  const { id, value, options, disabled, invalid, describedBy, label, placeholder, onChange, onOpen } = props;
  const listId = useId();
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState<string | undefined>(undefined);
  const [active, setActive] = useState(-1);
  const choices = matching(options, typed);
  // What was typed in full needs no list, which would lie over the controls below.
  const done = typed !== undefined && options.includes(typed);
  const expanded = open && choices.length > 0 && !done;

  // In the top layer: a window would clip the list.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list changes its size with the choices
  useLayoutEffect(() => {
    const box = list.current;
    if (box === null || input.current === null) return;
    if (!expanded) {
      if (box.matches(':popover-open')) box.hidePopover();
      return;
    }
    if (!box.matches(':popover-open')) box.showPopover();
    place(box, input.current.getBoundingClientRect());
  }, [expanded, choices.length]);
  useEffect(() => {
    if (!expanded) return;
    // What the list belongs to moves away below it.
    const leave = (event: Event) => {
      if (!(event.target instanceof Node && list.current?.contains(event.target))) setOpen(false);
    };
    window.addEventListener('scroll', leave, { capture: true, passive: true });
    window.addEventListener('resize', leave);
    return () => {
      window.removeEventListener('scroll', leave, { capture: true });
      window.removeEventListener('resize', leave);
    };
  }, [expanded]);

  function show() {
    if (disabled === true) return;
    onOpen?.();
    setTyped(undefined);
    setActive(options.indexOf(value));
    setOpen(true);
  }

  function choose(option: string) {
    onChange(option);
    setOpen(false);
    setTyped(undefined);
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      if (!expanded) {
        show();
        return;
      }
      const step = event.key === 'ArrowDown' ? 1 : -1;
      const next = (Math.max(active, step > 0 ? -1 : 0) + step + choices.length) % choices.length;
      setActive(next);
      list.current?.children[next]?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter' && expanded && active >= 0) {
      const option = choices[active];
      if (option === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      choose(option);
    } else if (event.key === 'Escape' && expanded) {
      event.preventDefault();
      event.stopPropagation();
      setOpen(false);
    }
  }

  return (
    <div
      className="combo"
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) setOpen(false);
      }}
    >
      <input
        ref={input}
        id={id}
        type="text"
        role="combobox"
        autoComplete="off"
        spellCheck={false}
        aria-label={label}
        aria-autocomplete="list"
        aria-expanded={expanded}
        aria-controls={listId}
        aria-activedescendant={expanded && active >= 0 ? `${listId}-${active}` : undefined}
        aria-invalid={invalid}
        aria-describedby={describedBy}
        placeholder={placeholder}
        disabled={disabled}
        value={value}
        onChange={(event) => {
          onChange(event.target.value);
          setTyped(event.target.value);
          setActive(-1);
          onOpen?.();
          setOpen(true);
        }}
        // With nothing to edit in it, a click asks for the choices.
        onClick={() => value === '' && !open && show()}
        onKeyDown={onKeyDown}
      />
      <button
        type="button"
        className="combo-arrow"
        tabIndex={-1}
        aria-hidden="true"
        disabled={disabled}
        onMouseDown={(event) => event.preventDefault()}
        onClick={() => {
          input.current?.focus();
          if (open) setOpen(false);
          else show();
        }}
      >
        <Icon name="unfold" />
      </button>
      <div ref={list} role="listbox" id={listId} className="combo-list" popover="manual" aria-label="Choices">
        {expanded &&
          choices.map((option, index) => (
            <div
              key={option}
              role="option"
              id={`${listId}-${index}`}
              tabIndex={-1}
              aria-selected={index === active}
              className="combo-option"
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(option)}
              onKeyDown={onKeyDown}
            >
              {option}
            </div>
          ))}
      </div>
    </div>
  );
}

/** Puts the list under its field, or above it where there is more room. */
function place(list: HTMLElement, field: DOMRect): void {
  const below = window.innerHeight - field.bottom - GAP_PX;
  const above = field.top - GAP_PX;
  const up = list.scrollHeight > below && above > below;
  const { style } = list;
  style.maxBlockSize = `${Math.min(MAX_PX, Math.max(up ? above : below, 0) - GAP_PX)}px`;
  style.inlineSize = `${field.width}px`;
  style.left = `${field.left}px`;
  style.top = up ? `${field.top - GAP_PX - list.offsetHeight}px` : `${field.bottom + GAP_PX}px`;
}
