// @ts-check
/** The desktop in the browser as the bench uses it: opens windows, drags them, scrolls in them. */

/** Windows of the case: path from the root of the menu tree, title, tab. */
const WINDOWS = [
  { tree: ['Interfaces'], title: 'Interface List' },
  { tree: ['IP', 'Firewall'], title: 'Firewall', tab: 'Filter Rules' },
  { tree: ['Queues'], title: 'Queue List', tab: 'Simple Queues' },
  { tree: ['Tools', 'Profile'], title: 'Profile' },
  { tree: ['Log'], title: 'Log' },
];
const TITLE_MIDDLE_PX = 13;
/** Radius of the circle in which a window is dragged, px, and number of pointer moves on it. */
const CIRCLE_PX = 120;
const CIRCLE_MOVES = 60;
const WHEEL_TURNS = 30;
const WHEEL_PX = 100;

/** @typedef {{ x: number, y: number, width: number, height: number }} Box */

export class Desktop {
  #page;
  /** Places by title of the taskbar. @type {{ task: Box, window: Box }[]} */
  #places = [];
  /** @type {readonly string[]} */
  titles = [];

  /** @param {import('@playwright/test').Page} page */
  constructor(page) {
    this.#page = page;
  }

  /** @param {string} url @param {string} password */
  async logIn(url, password) {
    await this.#page.goto(url);
    await this.#page.getByLabel('Password').fill(password);
    await this.#page.getByRole('button', { name: 'Log in' }).click();
    await this.#page.getByRole('tree', { name: 'Menus' }).waitFor();
  }

  /** Opens the dashboard and six windows in a cascade, all of them visible. */
  async openWindows() {
    const page = this.#page;
    await this.#fromTree(['Dashboard']);
    for (const { tree, title, tab } of WINDOWS) {
      await this.#fromTree(tree);
      if (tab !== undefined) await this.#window(title).first().getByRole('tab', { name: tab, exact: true }).click();
    }
    // The connections share a window with the filter rules; they are opened in a separate window.
    await this.#window('Firewall').first().getByRole('button', { name: 'Window menu' }).click();
    await page.getByRole('menuitem', { name: 'New window' }).click();
    await this.#window('Firewall').last().getByRole('tab', { name: 'Connections', exact: true }).click();
    const tasks = page.getByRole('navigation', { name: 'Open windows' }).getByRole('button');
    this.titles = await tasks.allTextContents();
    const windows = await page.locator('[data-window]').all();
    for (const [index, task] of (await tasks.all()).entries()) {
      this.#places.push({ task: await boxOf(task), window: await boxOf(windows[index]) });
    }
  }

  /**
   * Drags each window in a circle and scrolls in it, only by mouse events: no script of the benchmark runs in the page.
   */
  async exercise() {
    const { mouse } = this.#page;
    for (const { task, window } of this.#places) {
      await mouse.click(task.x + task.width / 2, task.y + task.height / 2);
      const [x, y] = [window.x + window.width / 2, window.y + TITLE_MIDDLE_PX];
      await mouse.move(x, y);
      await mouse.down();
      for (let step = 0; step <= CIRCLE_MOVES; step += 1) {
        const angle = (2 * Math.PI * step) / CIRCLE_MOVES;
        await mouse.move(x + CIRCLE_PX * Math.sin(angle), y + CIRCLE_PX * (1 - Math.cos(angle)));
      }
      await mouse.up();
      await mouse.move(window.x + window.width / 2, window.y + window.height / 2);
      for (let turn = 0; turn < WHEEL_TURNS; turn += 1) {
        await mouse.wheel(0, turn < WHEEL_TURNS / 2 ? WHEEL_PX : -WHEEL_PX);
      }
    }
  }

  /** @param {readonly string[]} labels */
  async #fromTree(labels) {
    const tree = this.#page.getByRole('tree', { name: 'Menus' });
    for (const [index, label] of labels.entries()) {
      const item = tree.getByRole('treeitem', { name: label, exact: true });
      const isOpenFolder = index < labels.length - 1 && (await item.getAttribute('aria-expanded')) === 'true';
      if (!isOpenFolder) await item.click();
    }
  }

  /** @param {string} title */
  #window(title) {
    return this.#page
      .locator('[data-window]')
      .filter({ has: this.#page.getByRole('heading', { name: title, exact: true, level: 2 }) });
  }
}

/** @param {import('@playwright/test').Locator | undefined} locator @returns {Promise<Box>} */
async function boxOf(locator) {
  const box = await locator?.boundingBox();
  if (box === null || box === undefined) throw new Error('a window of the case is not on the screen');
  return box;
}
