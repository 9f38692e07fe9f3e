/** The funnel: rows of property and value; an item is shown when all of them hold. */
import type { Menu } from '@tollway/schema';
import { useState } from 'react';
import { useOptions } from '../api/references.ts';
import { Combo } from '../ui/Combo.tsx';
import { ToolButton } from '../ui/ToolButton.tsx';

interface Condition {
  readonly key: number;
  readonly prop: string;
  readonly value: string;
}

interface Props {
  readonly menu: Menu;
  readonly filter: Readonly<Record<string, string>>;
  readonly onFilter: (filter: Readonly<Record<string, string>>) => void;
}

let nextKey = 1;

function conditionsOf(menu: Menu, filter: Readonly<Record<string, string>>): readonly Condition[] {
  const list = Object.entries(filter).map(([prop, value]) => ({ key: nextKey++, prop, value }));
  return list.length > 0 ? list : [{ key: nextKey++, prop: menu.columns[0] ?? '', value: '' }];
}

/** The text in the form that rows carry, where the kind understands it. */
export function canonical(menu: Menu, prop: string, value: string): string {
  const parsed = menu.props[prop]?.kind.parse(value);
  return parsed?.ok === true ? parsed.value : value;
}

export function FilterBar({ menu, filter, onFilter }: Props) {
  const [conditions, setConditions] = useState(() => conditionsOf(menu, filter));
  const change = (key: number, part: Partial<Condition>) =>
    setConditions(conditions.map((each) => (each.key === key ? { ...each, ...part } : each)));

  function apply(list: readonly Condition[]) {
    onFilter(
      Object.fromEntries(
        list.filter(({ value }) => value !== '').map(({ prop, value }) => [prop, canonical(menu, prop, value)]),
      ),
    );
  }

  return (
    <form
      className="filter-bar"
      aria-label="Filter"
      onSubmit={(event) => {
        event.preventDefault();
        apply(conditions);
      }}
    >
      {conditions.map((condition) => (
        <div key={condition.key} className="filter-row">
          <select
            aria-label="Property"
            value={condition.prop}
            onChange={(event) => change(condition.key, { prop: event.target.value, value: '' })}
          >
            {Object.entries(menu.props)
              .filter(([, prop]) => prop.secret !== true)
              .map(([name, prop]) => (
                <option key={name} value={name}>
                  {prop.label}
                </option>
              ))}
          </select>
          <span>is</span>
          <FilterValue menu={menu} condition={condition} onChange={(value) => change(condition.key, { value })} />
          <ToolButton
            name="Remove condition"
            icon="remove"
            onPress={() => {
              const rest = conditions.filter((each) => each.key !== condition.key);
              setConditions(rest.length > 0 ? rest : conditionsOf(menu, {}));
              apply(rest);
            }}
          />
        </div>
      ))}
      <div className="filter-row">
        <ToolButton
          name="Add condition"
          icon="add"
          onPress={() => setConditions([...conditions, ...conditionsOf(menu, {})])}
        />
        <button type="submit" className="button">
          Filter
        </button>
        <button
          type="button"
          className="button"
          onClick={() => {
            setConditions(conditionsOf(menu, {}));
            onFilter({});
          }}
        >
          Clear
        </button>
      </div>
    </form>
  );
}

interface ValueProps {
  readonly menu: Menu;
  readonly condition: Condition;
  readonly onChange: (value: string) => void;
}

function FilterValue({ menu, condition, onChange }: ValueProps) {
  const prop = menu.props[condition.prop];
  const { options, load } = useOptions(prop?.kind);
  return (
    <Combo
      id={`filter-${condition.key}`}
      label="Value"
      value={condition.value}
      options={options}
      onOpen={load}
      onChange={onChange}
    />
  );
}
