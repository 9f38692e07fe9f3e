/** A text field with a list of choices. Typing narrows the list; any text may be entered. */
import { Combobox, ComboboxItem, ComboboxPopover, useComboboxStore } from '@ariakit/react';
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
  /** Called when the list is about to open: options may be fetched. */
  readonly onOpen?: () => void;
}

/** Space between the list and its field, and between the list and the edge of the page, px. */
const GAP_PX = 2;

/** Choices that match the typed text; all choices until something is typed. */
function matching(options: readonly string[], typed: string | undefined): readonly string[] {
  if (typed === undefined || typed === '') return options;
  const wanted = typed.toLowerCase();
  return options.filter((option) => option.toLowerCase().includes(wanted));
}

export function Combo(props: Props) {
  const { id, value, options, disabled = false, invalid, describedBy, label, placeholder, onChange, onOpen } = props;
  const listId = useId();
  const root = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  const [typed, setTyped] = useState<string>();
  const choices = matching(options, typed);
  // A completely typed choice needs no list, which would cover the controls below.
  const done = typed !== undefined && options.includes(typed);
  const expanded = open && choices.length > 0 && !done;
  const store = useComboboxStore({
    inputValue: value,
    setInputValue: (next) => {
      if (next !== value) onChange(next);
    },
    open: expanded,
    setOpen: (next) => {
      if (next) onOpen?.();
      setOpen(next);
    },
    placement: 'bottom-start',
    focusLoop: true,
    includesBaseElement: false,
  });

  // In the top layer, as a window would clip the list.
  useLayoutEffect(() => {
    if (expanded) list.current?.closest<HTMLElement>('[popover]')?.showPopover();
  }, [expanded]);
  useEffect(() => {
    if (!expanded) return;
    // The field may be scrolled away from its list.
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

  /** Shows all choices, with the present value as the active one. */
  function all() {
    setTyped(undefined);
    const at = options.indexOf(value);
    store.setActiveId(at < 0 ? null : `${listId}-${value}`);
  }

  function onFieldKey(event: KeyboardEvent) {
    if (!expanded && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) all();
    // Without an active choice Enter submits the form, as in any field.
    if (expanded && event.key === 'Enter' && store.getState().activeId === null) store.hide();
  }

  /**
   * Handles keys of the open list, including those that the field has passed on to a choice; none of them reaches the
   * surroundings.
   */
  function onListKey(event: KeyboardEvent) {
    if (!expanded) return;
    if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      setOpen(false);
    } else if (event.key === 'Enter' && store.getState().activeId !== null) event.stopPropagation();
  }

  return (
    <div ref={root} className="combo" onKeyDown={onListKey}>
      <Combobox
        ref={input}
        id={id}
        store={store}
        type="text"
        autoComplete="list"
        spellCheck={false}
        aria-label={label}
        aria-invalid={invalid}
        aria-describedby={describedBy}
        placeholder={placeholder}
        disabled={disabled}
        // A click into an empty field opens the list, as there is no text to edit.
        showOnClick={() => value === '' && !open}
        onChange={(event) => setTyped(event.target.value)}
        onMouseDown={() => value === '' && !open && all()}
        onKeyDown={onFieldKey}
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
          else {
            all();
            store.show();
          }
        }}
      >
        <Icon name="unfold" />
      </button>
      <ComboboxPopover
        ref={list}
        id={listId}
        store={store}
        unmountOnHide
        fixed
        sameWidth
        gutter={GAP_PX}
        overflowPadding={GAP_PX}
        hideOnEscape={false}
        hideOnInteractOutside={(event) => !root.current?.contains(event.target as Node | null)}
        wrapperProps={{ popover: 'manual', className: 'popup-layer' }}
        aria-label="Choices"
        className="combo-list"
      >
        {choices.map((option) => (
          <ComboboxItem
            key={option}
            id={`${listId}-${option}`}
            value={option}
            focusOnHover={false}
            className="combo-option"
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => setTyped(undefined)}
          />
        ))}
      </ComboboxPopover>
    </div>
  );
}
