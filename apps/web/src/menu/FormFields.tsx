/** Tabs of fields for one item. */
import type { Menu } from '@tollway/schema';
import { type ComponentType, useEffect, useId, useState } from 'react';
import type { Row } from '../api/row.ts';
import { Tabs } from '../ui/Tabs.tsx';
import { Field } from './fields/Field.tsx';
import { type Errors, fieldsOf, fieldValue, tabsOf } from './form-model.ts';
import type { Form } from './use-form.ts';

/** Something that a tab shows above its fields, e.g. a graph. */
export type TabExtra = ComponentType<{ readonly row: Row }>;

interface Props {
  readonly menu: Menu;
  readonly base: Row;
  readonly form: Form;
  readonly isNew: boolean;
  readonly readOnly: boolean;
  readonly extras?: Readonly<Record<string, TabExtra>> | undefined;
}

function tabOfError(menu: Menu, errors: Errors): string | undefined {
  const name = Object.keys(errors).find((each) => each !== '');
  return name === undefined ? undefined : menu.props[name]?.tab;
}

export function FormFields({ menu, base, form, isNew, readOnly, extras }: Props) {
  const id = useId();
  const tabs = tabsOf(menu, base, form.edits, isNew);
  const [chosen, setChosen] = useState<string>();
  const active = chosen !== undefined && tabs.includes(chosen) ? chosen : (tabs[0] ?? '');
  const { errors } = form;
  const marked = new Set(Object.keys(errors).map((name) => menu.props[name]?.tab ?? ''));

  // An error on another tab would go unseen.
  useEffect(() => {
    const tab = tabOfError(menu, errors);
    if (tab !== undefined)
      setChosen((now) => (Object.keys(errors).some((name) => menu.props[name]?.tab === now) ? now : tab));
  }, [errors, menu]);

  const Extra = extras?.[active];
  const fields = (
    <>
      {Extra !== undefined && <Extra row={base} />}
      {fieldsOf(menu, active, base, form.edits, isNew).map((name) => {
        const prop = menu.props[name];
        return (
          prop !== undefined && (
            <Field
              key={name}
              name={name}
              prop={prop}
              value={fieldValue(prop, name, base, form.edits)}
              readOnly={readOnly}
              error={errors[name]}
              onChange={(value) => form.change(name, value)}
              onBlur={() => form.leave(name)}
            />
          )
        );
      })}
    </>
  );
  return tabs.length > 1 ? (
    <Tabs id={id} tabs={tabs} active={active} marked={marked} onSelect={setChosen}>
      {fields}
    </Tabs>
  ) : (
    <div className="tab-panel">{fields}</div>
  );
}
