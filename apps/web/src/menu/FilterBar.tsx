/** The filter bar (funnel): rows of field, operator and value; an item is shown when all conditions hold. */
import { type Menu, menuColumn } from '@tollway/schema';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { LiveMenu } from '../api/live-menu.ts';
import { useOptions } from '../api/references.ts';
import { Combo } from '../ui/Combo.tsx';
import { ToolButton } from '../ui/ToolButton.tsx';
import {
  type Condition,
  conditionFields,
  emptyCondition,
  OPERATOR_LABELS,
  operatorsFor,
  wantedAfter,
} from './conditions.ts';

interface Line {
  readonly key: number;
  readonly condition: Condition;
}

interface Props {
  readonly menu: Menu;
  /** The list, which reports a condition that the router refuses. */
  readonly live: LiveMenu;
  /** Columns of the table; a new condition is about the first one. */
  readonly columns: readonly string[];
  readonly conditions: readonly Condition[];
  readonly onFilter: (conditions: readonly Condition[]) => void;
  /** True when the user has just opened the bar; the value then takes the focus. */
  readonly asked: boolean;
}

let nextKey = 1;

function linesOf(conditions: readonly Condition[]): readonly Line[] {
  return conditions.map((condition) => ({ key: nextKey++, condition }));
}

export function FilterBar({ menu, live, columns, conditions, onFilter, asked }: Props) {
  const form = useRef<HTMLFormElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once, when the bar appears
  useEffect(() => {
    if (asked) form.current?.querySelector<HTMLInputElement>('input')?.focus();
  }, []);
  const fresh = () => emptyCondition(menu, columns[0] ?? menu.columns[0] ?? '');
  const [lines, setLines] = useState(() => linesOf(conditions.length > 0 ? conditions : [fresh()]));

  const refused = useSyncExternalStore(
    (changed) => live.subscribe(changed),
    () => live.refused,
  );
  const whyNot = ({ prop, op, value }: Condition) =>
    refused?.column === prop && refused.op === op && refused.value === value ? refused.why : '';

  const change = (key: number, part: Partial<Condition>) =>
    setLines(lines.map((line) => (line.key === key ? { key, condition: { ...line.condition, ...part } } : line)));
  const apply = (list: readonly Line[]) =>
    onFilter(list.map((line) => line.condition).filter(({ value }) => value !== ''));

  function addAfter(index: number) {
    setLines(lines.toSpliced(index + 1, 0, ...linesOf([fresh()])));
  }

  function remove(key: number) {
    const rest = lines.filter((line) => line.key !== key);
    setLines(rest.length > 0 ? rest : linesOf([fresh()]));
    apply(rest);
  }

  return (
    <form
      ref={form}
      className="filter-bar"
      aria-label="Filter"
      onSubmit={(event) => {
        event.preventDefault();
        apply(lines);
      }}
    >
      {lines.map(({ key, condition }, index) => (
        <div key={key} className="filter-row">
          <ConditionFields
            menu={menu}
            id={key}
            condition={condition}
            wrong={whyNot(condition)}
            onChange={(part) => change(key, part)}
          />
          <ToolButton name="Add condition" icon="add" onPress={() => addAfter(index)} />
          <ToolButton name="Remove condition" icon="remove" onPress={() => remove(key)} />
          {index === lines.length - 1 && (
            <>
              <button type="submit" className="button">
                Filter
              </button>
              <button
                type="button"
                className="button"
                onClick={() => {
                  setLines(linesOf([fresh()]));
                  onFilter([]);
                }}
              >
                Clear
              </button>
            </>
          )}
          {whyNot(condition) !== '' && (
            <p id={errorId(key)} className="field-error" role="alert">
              {whyNot(condition)}
            </p>
          )}
        </div>
      ))}
    </form>
  );
}

const errorId = (key: number): string => `filter-${key}-wrong`;

interface ConditionProps {
  readonly menu: Menu;
  readonly id: number;
  readonly condition: Condition;
  /** Reason why the router refuses the condition; empty when it accepts it. */
  readonly wrong: string;
  readonly onChange: (part: Partial<Condition>) => void;
}

function ConditionFields({ menu, id, condition, wrong, onChange }: ConditionProps) {
  const kind = menuColumn(menu, condition.prop)?.kind;
  const { options, load } = useOptions(kind);
  const operators = kind === undefined ? [] : operatorsFor(kind);
  const placeholder = kind === undefined ? undefined : wantedAfter(kind, condition.op);
  const choices = kind?.name === 'bool' ? ['yes', 'no'] : options;
  return (
    <>
      <select
        aria-label="Property"
        value={condition.prop}
        onChange={(event) => {
          const prop = event.target.value;
          const { op } = emptyCondition(menu, prop);
          const next = menuColumn(menu, prop)?.kind;
          const same = kind?.name === next?.name;
          const stays = same && next !== undefined && operatorsFor(next).includes(condition.op);
          onChange({ prop, ...(stays ? {} : { op }), ...(same ? {} : { value: '' }) });
        }}
      >
        {conditionFields(menu).map(({ name, label }) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
      <select
        aria-label="Operator"
        value={condition.op}
        onChange={(event) => {
          const op = operators.find((each) => each === event.target.value);
          if (op !== undefined) onChange({ op });
        }}
      >
        {operators.map((op) => (
          <option key={op} value={op}>
            {OPERATOR_LABELS[op]}
          </option>
        ))}
      </select>
      <Combo
        id={`filter-${id}`}
        label="Value"
        value={condition.value}
        options={choices}
        {...(placeholder !== undefined && { placeholder })}
        invalid={wrong !== ''}
        describedBy={wrong === '' ? undefined : errorId(id)}
        onOpen={load}
        onChange={(value) => onChange({ value })}
      />
    </>
  );
}
