/**
 * Windows generated from a menu's declaration (lists, settings, dialogs), and tabs. Their code is fetched when one is
 * opened.
 */
import type * as Items from '../menu/ItemForm.tsx';
import type { MenuTable as Table } from '../menu/MenuTable.tsx';
import type { SettingsForm as Settings } from '../menu/SettingsForm.tsx';
import { LazyComponent } from '../ui/lazy-component.tsx';
import { menuComponent, type WithoutMenu } from '../windows/menu-component.tsx';

export const TabList = new LazyComponent(async () => (await import('../ui/Tabs.tsx')).TabList);
export const MenuTable = menuComponent<WithoutMenu<typeof Table>>(
  async () => (await import('../menu/MenuTable.tsx')).MenuTable,
);
export const SettingsForm = menuComponent<WithoutMenu<typeof Settings>>(
  async () => (await import('../menu/SettingsForm.tsx')).SettingsForm,
);
export const ItemForm = menuComponent<WithoutMenu<typeof Items.ItemForm>>(
  async () => (await import('../menu/ItemForm.tsx')).ItemForm,
);
export const NewItemForm = menuComponent<WithoutMenu<typeof Items.NewItemForm>>(
  async () => (await import('../menu/ItemForm.tsx')).NewItemForm,
);
