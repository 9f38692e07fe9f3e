/** Tabs of fields for one item. */
import type { Menu } from '@tollway/schema';
import { Fragment, useCallback, useContext, useEffect, useId, useLayoutEffect, useState } from 'react';
import type { Row } from '../api/row.ts';
import { Lazy } from '../ui/lazy-component.tsx';
import { TabList } from '../ui/Tabs.tsx';
import { Field } from './fields/Field.tsx';
import { type Errors, fieldsOf, fieldValue, isAlwaysOpen, tabsOf } from './form-model.ts';
import { ResizeRequest } from './form-resize.ts';
import { type TabExtras, withExtraTabs } from './form-tabs.ts';
import { rememberedTab, rememberTab } from './remembered-tab.ts';
import type { Form } from './use-form.ts';

interface Props {
  readonly menu: Menu;
  readonly base: Row;
  readonly form: Form;
  readonly isNew: boolean;
  readonly readOnly: boolean;
  readonly extras?: TabExtras | undefined;
  /** Shows all tabs side by side, for forms that have a page of their own. */
  readonly spread?: boolean;
  /** Identifies the item: the tab that was last open for it is shown, also after a reload. */
  readonly place?: string | undefined;
}

function tabOfError(menu: Menu, errors: Errors): string | undefined {
  const name = Object.keys(errors).find((each) => each !== '');
  return name === undefined ? undefined : menu.props[name]?.tab;
}

export function FormFields({ menu, base, form, isNew, readOnly, extras, spread = false, place }: Props) {
  const id = useId();
  const own = tabsOf(menu, base, form.edits, isNew);
  const tabs = isNew || extras === undefined ? own : withExtraTabs(own, extras);
  const [chosen, setChosen] = useState(() => (place === undefined ? undefined : rememberedTab(place)));
  function choose(tab: string) {
    setChosen(tab);
    if (place !== undefined) rememberTab(place, tab);
  }
  const active = chosen !== undefined && tabs.includes(chosen) ? chosen : (tabs[0] ?? '');
  const { errors } = form;
  const marked = new Set(Object.keys(errors).map((name) => menu.props[name]?.tab ?? ''));

  // A refused value may be on another tab: that tab is shown, and the field takes the focus. Only a refusal of the
  // whole form changes the tab, as a user who leaves a field for another tab wants to see that tab.
  const [sought, setSought] = useState<string>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs for each refusal, with the errors of that moment
  useEffect(() => {
    if (form.failedSends === 0) return;
    const tab = marked.has(active) ? active : tabOfError(menu, errors);
    if (tab === undefined) return;
    setChosen(tab);
    setSought(fieldsOf(menu, tab, base, form.edits, isNew).find((name) => errors[name] !== undefined));
  }, [form.failedSends]);
  const found = useCallback(() => setSought(undefined), []);

  const requestResize = useContext(ResizeRequest);
  const shown = fieldsOf(menu, active, base, form.edits, isNew);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the values on which the height of the form depends
  useLayoutEffect(requestResize, [requestResize, active, shown.length, errors, Object.keys(form.conflicts).length]);

  const fields = (tab: string) => {
    const extra = isNew ? undefined : extras?.[tab]?.content;
    return (
      <>
        {extra !== undefined && <Lazy component={extra} props={{ row: base }} />}
        {fieldsOf(menu, tab, base, form.edits, isNew).map((name, at, names) => {
          const prop = menu.props[name];
          if (prop === undefined) return null;
          const open = isAlwaysOpen(menu, prop);
          const titles = prop.kind.pair?.titles;
          const above = menu.props[names[at - 1] ?? '']?.kind.pair?.titles;
          return (
            <Fragment key={name}>
              {titles !== undefined && titles.join() !== above?.join() && <PairTitles titles={titles} />}
              <Field
                name={name}
                prop={prop}
                value={fieldValue(prop, name, base, form.edits) ?? (open ? prop.default : undefined)}
                open={open}
                readOnly={readOnly}
                error={errors[name]}
                sought={sought === name}
                onFound={found}
                conflict={form.conflicts[name]}
                onChange={form.change}
                onBlur={form.blur}
              />
            </Fragment>
          );
        })}
      </>
    );
  };
  const passive = shown.every((name) => readOnly || menu.props[name]?.readOnly === true);
  const many = tabs.length > 1;
  if (many && spread) {
    return (
      <div className="form-spread">
        {tabs.map((tab) => (
          <div key={tab} role="group" className="tab-panel" aria-label={tab}>
            <h3>{tab}</h3>
            {fields(tab)}
          </div>
        ))}
      </div>
    );
  }
  // There is one panel even without tabs: a new item may get tabs once it has been added, and the fields must keep
  // their state.
  return (
    <>
      {many && <TabList id={id} tabs={tabs} active={active} marked={marked} onSelect={choose} />}
      <div className="tab-panel" {...panelRole()}>
        {fields(active)}
      </div>
    </>
  );

  function panelRole() {
    const tabIndex = passive ? 0 : undefined;
    if (many) return { role: 'tabpanel', id: `${id}-panel`, tabIndex };
    // A form whose tabs are side by side scrolls with its page.
    return passive && !spread ? { role: 'group', tabIndex, 'aria-label': active } : {};
  }
}

/** Titles over two columns of fields; each field is named by its own label. */
function PairTitles({ titles }: { readonly titles: readonly [string, string] }) {
  return (
    <div className="field pair-titles" aria-hidden="true">
      <div className="pair">
        {titles.map((title) => (
          <span key={title}>{title}</span>
        ))}
      </div>
    </div>
  );
}
