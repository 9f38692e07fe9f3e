import { expect, type Locator, type Page } from '@playwright/test';

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
    const arrived = narrow
      ? this.page.getByRole('button', { name: 'Menus', exact: true })
      : this.page.getByRole('tree', { name: 'Menus' });
    await expect(arrived).toBeVisible();
  }

  /** Opens a menu from the tree, e.g. `Filter Rules`. */
  async open(label: string): Promise<Menu> {
    await this.page.getByRole('treeitem', { name: label, exact: true }).click();
    return new Menu(this.page);
  }

  /** `live`, `no connection 3 s` … at the top right. */
  get connection(): Locator {
    return this.page.getByRole('banner').getByRole('status');
  }
}

/** The open menu: its table. */
export class Menu {
  constructor(readonly page: Page) {}

  get grid(): Locator {
    return this.page.getByRole('grid');
  }

  /** Data rows that contain all the texts. */
  row(...texts: string[]): Locator {
    // The row of column titles has no cells of its own kind.
    let rows = this.grid.getByRole('row').filter({ has: this.page.getByRole('gridcell') });
    for (const text of texts) rows = rows.filter({ hasText: text });
    return rows;
  }

  button(name: string): Locator {
    return this.page.getByRole('toolbar').getByRole('button', { name, exact: true });
  }

  /** Text of the cell of a row under a column title. */
  async cell(row: Locator, column: string): Promise<string> {
    const titles = await this.grid.getByRole('columnheader').allTextContents();
    const index = titles.findIndex((title) => title.replace(/[▲▼\s]+$/, '').trim() === column);
    expect(index, `column ${column} among ${titles.join(', ')}`).toBeGreaterThanOrEqual(0);
    const cell = row.locator(`[role="gridcell"][aria-colindex="${index + 1}"]`).last();
    return ((await cell.textContent()) ?? '').trim();
  }

  async add(): Promise<Dialog> {
    await this.button('Add').click();
    return new Dialog(this.page);
  }

  async edit(row: Locator): Promise<Dialog> {
    await row.dblclick();
    return new Dialog(this.page);
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

  constructor(readonly page: Page) {
    this.root = page.getByRole('dialog');
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

  /** The control of a field that has a value or may have none. An error beside it is its accessible description. */
  field(label: string): Locator {
    return this.root.getByLabel(label, { exact: true });
  }

  async press(name: 'OK' | 'Cancel' | 'Apply' | 'Remove'): Promise<void> {
    await this.root.getByRole('button', { name, exact: true }).click();
  }

  async closed(): Promise<void> {
    await expect(this.root).toBeHidden();
  }
}
