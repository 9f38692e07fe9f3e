/** Shows the menu of the address, and the dialog of an item over it. */
import { type Menu, menuByPath } from '@tollway/schema';
import { ItemForm, NewItemForm } from '../menu/ItemForm.tsx';
import { MenuTable } from '../menu/MenuTable.tsx';
import { SettingsForm } from '../menu/SettingsForm.tsx';
import { ModalDialog } from '../ui/ModalDialog.tsx';
import { bespokeWindows, tabExtras } from '../windows/bespoke.ts';
import { useAppearance } from './appearance.ts';
import { go, parsePlace, useAddress } from './location.ts';

export function WorkArea() {
  const { pathname, search } = useAddress();
  const { menu: path, item } = parsePlace(pathname, search, (each) => menuByPath(each) !== undefined);
  const menu = path === undefined ? undefined : menuByPath(path);
  if (menu === undefined) {
    return (
      <main className="work">
        <p className="form-note">There is no menu at {pathname}. Choose one from the tree.</p>
      </main>
    );
  }
  const close = () => go(menu.path);
  const common = {
    menu,
    Frame: ModalDialog,
    extras: tabExtras[menu.path],
    onClose: close,
    onCopy: (id: string) => go(menu.path, { kind: 'new', copy: id }),
    onAdded: (id: string) => go(menu.path, { kind: 'id', id }, 'replace'),
  };
  return (
    <main className="work">
      <h2 className="work-title">{menu.tree.join(' ▸ ')}</h2>
      <View key={menu.path} menu={menu} />
      {item.kind === 'id' && menu.kind !== 'settings' && menu.kind !== 'status' && (
        <ItemForm key={item.id} id={item.id} {...common} />
      )}
      {item.kind === 'new' && menu.commands.includes('add') && (
        <NewItemForm key={`new ${item.copy ?? ''}`} copy={item.copy} {...common} />
      )}
    </main>
  );
}

function View({ menu }: { readonly menu: Menu }) {
  const { density } = useAppearance();
  const Bespoke = bespokeWindows[menu.path];
  const list = {
    menu,
    density,
    onOpen: (id: string) => go(menu.path, { kind: 'id', id }),
    onAdd: () => go(menu.path, { kind: 'new', copy: undefined }),
  };
  if (Bespoke !== undefined) return <Bespoke {...list} />;
  if (menu.kind === 'settings' || menu.kind === 'status') return <SettingsForm menu={menu} />;
  return <MenuTable {...list} />;
}
