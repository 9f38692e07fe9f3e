import { expect, type Locator, type Page } from '@playwright/test';
import type { Tab, WindowDefinition } from '../apps/web/src/windows/define-windows.ts';
import { windowDefinitions } from './windows.ts';

/** Distance from the upper edge of a window to the middle of its title, px. */
export const TITLE_MIDDLE_PX = 13;

/** The web page as a person or a screen reader finds its way in it: by roles and names only. */
export class Console {
  constructor(
    readonly page: Page,
    readonly url: string,
  ) {}

  /** `narrow`: on a phone the tree is behind a button. */
  async logIn(password: string, { narrow = false } = {}): Promise<void> {
    await this.page.goto(this.url);
    await this.page.getByLabel('Password').fill(password);
    await this.page.getByRole('button', { name: 'Log in' }).click();
    const arrived = narrow ? this.page.getByRole('button', { name: 'Menus', exact: true }) : this.tree;
    await expect(arrived).toBeVisible();
  }

  get tree(): Locator {
    return this.page.getByRole('tree', { name: 'Menus' });
  }

  /** `live`, `no connection 3 s` … at the top right. */
  get connection(): Locator {
    return this.page.getByRole('banner').getByRole('status');
  }

  /** The buttons of the open windows at the bottom. */
  get taskbar(): Locator {
    return this.page.getByRole('navigation', { name: 'Open windows' });
  }

  /** Puts a window in front that others may cover. */
  async bringUp(title: string | RegExp): Promise<void> {
    await this.taskbar.getByRole('button', { name: title, exact: typeof title === 'string' }).click();
  }

  /** The window with this title, whatever state stands behind it in brackets. */
  window(title: string): AppWindow {
    const name = new RegExp(`^${title}( \\(.+\\))?$`);
    return new AppWindow(this.page, this.page.getByRole('region', { name }));
  }

  /** Opens the window of a menu from the tree, and its tab, e.g. of `/ip/firewall/nat`. */
  async open(address: string): Promise<Menu> {
    const { definition, tab } = placeOf(address);
    const labels = definition.tree ?? [];
    for (const [level, label] of labels.entries()) {
      // Several branches may have a label: each has its labels from the root on as its key.
      const key = `/${labels.slice(0, level + 1).join('/')}`;
      const item = this.tree
        .getByRole('treeitem', { name: label, exact: true })
        .and(this.page.locator(`[data-key="${key}"]`));
      const isFolder = level < labels.length - 1;
      if (!isFolder || (await item.getAttribute('aria-expanded')) === 'false') await item.click();
    }
    const { root } = this.window(definition.title);
    await expect(root).toBeVisible();
    if (definition.tabs.length > 1) await root.getByRole('tab', { name: tab.label, exact: true }).click();
    // Its code may have to be fetched.
    await expect(root.locator('.loading-note')).toHaveCount(0);
    return new Menu(this.page, root);
  }
}

/** The window and the tab that show a menu. */
export function placeOf(address: string): { definition: WindowDefinition; tab: Tab } {
  const definition = windowDefinitions.find(({ tabs }) => tabs.some((tab) => tab.address === address));
  const tab = definition?.tabs.find((each) => each.address === address);
  if (definition === undefined || tab === undefined) throw new Error(`no window shows ${address}`);
  return { definition, tab };
}

/** A window of the desktop. */
export class AppWindow {
  constructor(
    readonly page: Page,
    readonly root: Locator,
  ) {}

  button(name: string): Locator {
    return this.root.getByRole('button', { name, exact: true });
  }

  async box(): Promise<{ x: number; y: number; width: number; height: number }> {
    const box = await this.root.boundingBox();
    if (box === null) throw new Error('the window is not on the screen');
    return box;
  }

  /** Gives the window the whole desktop, or takes it away again. */
  async toggleSize(): Promise<void> {
    const { x, y, width } = await this.box();
    await this.page.mouse.dblclick(x + width / 2, y + TITLE_MIDDLE_PX);
  }

  /** Pulls with the mouse from a point of the window, given from its upper left corner. */
  async pull(from: { x: number; y: number }, by: { x: number; y: number }): Promise<void> {
    const box = await this.box();
    const { mouse } = this.page;
    await mouse.move(box.x + from.x, box.y + from.y);
    await mouse.down();
    await mouse.move(box.x + from.x + by.x / 2, box.y + from.y + by.y / 2, { steps: 4 });
    await mouse.move(box.x + from.x + by.x, box.y + from.y + by.y, { steps: 4 });
    await mouse.up();
  }
}

/** The table of a window. */
export class Menu extends AppWindow {
  get grid(): Locator {
    return this.root.getByRole('grid').or(this.root.getByRole('treegrid'));
  }

  /** Data rows that contain all the texts. */
  row(...texts: string[]): Locator {
    // The row of column titles has no cells of its own kind.
    let rows = this.grid.getByRole('row').filter({ has: this.page.getByRole('gridcell') });
    for (const text of texts) rows = rows.filter({ hasText: text });
    return rows;
  }

  /** The button of a command in the toolbar. */
  command(name: string): Locator {
    return this.root.getByRole('toolbar').getByRole('button', { name, exact: true });
  }

  /** Text of the cell of a row under a column title. */
  async cell(row: Locator, column: string): Promise<string> {
    const titles = await this.grid.getByRole('columnheader').allTextContents();
    const index = titles.findIndex((title) => title.replace(/[▲▼\s]+$/, '').trim() === column);
    expect(index, `column ${column} among ${titles.join(', ')}`).toBeGreaterThanOrEqual(0);
    const cell = row.locator(`[role="gridcell"][aria-colindex="${index + 1}"]`).last();
    return ((await cell.textContent()) ?? '').trim();
  }

  async find(text: string): Promise<void> {
    await this.root.getByRole('searchbox', { name: 'Find' }).fill(text);
  }

  /** Drags a row of an ordered list to the upper edge of another one, or to its lower edge. */
  async drag(row: Locator, other: Locator, edge: 'upper' | 'lower' = 'upper'): Promise<void> {
    const from = await row.boundingBox();
    const to = await other.boundingBox();
    if (from === null || to === null) throw new Error('the rows are not on the screen');
    const { mouse } = this.page;
    await mouse.move(from.x + 60, from.y + from.height / 2);
    await mouse.down();
    await mouse.move(to.x + 60, to.y + to.height, { steps: 8 });
    await mouse.move(to.x + 60, edge === 'upper' ? to.y + 2 : to.y + to.height - 2, { steps: 4 });
    await mouse.up();
  }

  /** Drags a row of a tree onto another one, or below the last row. */
  async dragOnto(row: Locator, onto: Locator | undefined): Promise<void> {
    const from = await row.boundingBox();
    const target = onto ?? this.row().last();
    const to = await target.boundingBox();
    if (from === null || to === null) throw new Error('the rows are not on the screen');
    const { mouse } = this.page;
    const y = onto === undefined ? to.y + 2 * to.height : to.y + to.height / 2;
    await mouse.move(from.x + 300, from.y + from.height / 2);
    await mouse.down();
    await mouse.move(to.x + 300, y + 4, { steps: 6 });
    await mouse.move(to.x + 300, y, { steps: 4 });
    await mouse.up();
  }

  /** Number in a cell of whole numbers; NaN for anything else. */
  async number(row: Locator, column: string): Promise<number> {
    const text = (await this.cell(row, column)).replaceAll(/\s/g, '');
    return text === '' ? Number.NaN : Number(text);
  }

  /** Opens the dialog of a new item; `singular` as the menu calls one, e.g. `Firewall Rule`. */
  async add(singular: string): Promise<Dialog> {
    await this.command('Add').click();
    return new Dialog(this.page, `New ${singular}`);
  }

  /** Opens the dialog of a row. */
  async edit(row: Locator, title: string | RegExp): Promise<Dialog> {
    await row.dblclick();
    return new Dialog(this.page, title);
  }

  /** Selects a row by a click on the number or name in it. */
  async select(row: Locator): Promise<void> {
    await row.locator('[role="gridcell"][aria-colindex="2"]').click();
    await expect(row).toHaveAttribute('aria-selected', 'true');
  }
}

/** The dialog of an item. */
export class Dialog {
  readonly root: Locator;

  constructor(
    readonly page: Page,
    title: string | RegExp,
  ) {
    this.root = page.getByRole('dialog', { name: title });
  }

  async tab(name: string): Promise<void> {
    await this.root.getByRole('tab', { name, exact: true }).click();
  }

  /** Gives a field a value: unfolds it when it is unset, then chooses or types. */
  async set(label: string, value: string): Promise<void> {
    const unfold = this.root.getByRole('button', { name: `Set ${label}`, exact: true });
    const control = this.field(label);
    await expect(unfold.or(control).first()).toBeVisible();
    if (await unfold.isVisible()) await unfold.click();
    const isSelect = await control.evaluate((element) => element.tagName === 'SELECT');
    if (isSelect) await control.selectOption(value);
    else await control.fill(value);
  }

  /** Gives a field with a row for each value these values, in place of those that it has. */
  async setList(label: string, values: readonly string[]): Promise<void> {
    const unfold = this.root.getByRole('button', { name: `Set ${label}`, exact: true });
    await expect(unfold.or(this.field(`${label} 1`)).first()).toBeVisible();
    if (await unfold.isVisible()) await unfold.click();
    while (await this.field(`${label} 2`).isVisible()) {
      await this.root.getByRole('button', { name: `Remove ${label} 2`, exact: true }).click();
    }
    for (const [index, value] of values.entries()) {
      if (index > 0) await this.root.getByRole('button', { name: `Add to ${label}`, exact: true }).click();
      await this.field(`${label} ${index + 1}`).fill(value);
    }
  }

  /** The control of a field that has a value or may have none. An error beside it is its accessible description. */
  field(label: string): Locator {
    return this.root.getByLabel(label, { exact: true });
  }

  async choose(label: string): Promise<void> {
    await this.root.getByRole('radio', { name: label, exact: true }).check();
  }

  async press(name: 'OK' | 'Cancel' | 'Apply' | 'Remove' | 'Enable' | 'Disable' | 'Copy'): Promise<void> {
    await this.root.getByRole('button', { name, exact: true }).click();
  }

  async closed(): Promise<void> {
    await expect(this.root).toBeHidden();
  }
}
