/**
 * Windows generated from a menu's declaration (lists, settings, dialogs), and tabs. Their code is fetched when one is
 * opened.
 */
import { LazyComponent } from '../ui/lazy-component.tsx';

export const TabList = new LazyComponent(async () => (await import('../ui/Tabs.tsx')).TabList);
export const MenuTable = new LazyComponent(async () => (await import('../menu/MenuTable.tsx')).MenuTable);
export const SettingsForm = new LazyComponent(async () => (await import('../menu/SettingsForm.tsx')).SettingsForm);
export const ItemForm = new LazyComponent(async () => (await import('../menu/ItemForm.tsx')).ItemForm);
export const NewItemForm = new LazyComponent(async () => (await import('../menu/ItemForm.tsx')).NewItemForm);
