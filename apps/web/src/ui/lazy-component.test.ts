import { expect, test } from 'vitest';
import { LazyComponent } from './lazy-component.tsx';

const Drawn = () => null;

test('code is fetched once, however many ask for it', async () => {
  let fetched = 0;
  const lazy = new LazyComponent<object>(async () => {
    fetched++;
    return Drawn;
  });
  expect(lazy.state()).toBe('absent');
  let news = 0;
  lazy.subscribe(() => news++);
  await Promise.all([lazy.preload(), lazy.preload()]);
  await lazy.preload();
  expect(lazy.state()).toBe(Drawn);
  expect([fetched, news]).toEqual([1, 1]);
});

test('a failure is reported, and the next one who asks tries again', async () => {
  let isAway = true;
  const lazy = new LazyComponent<object>(async () => {
    if (isAway) throw new TypeError('Failed to fetch dynamically imported module');
    return Drawn;
  });
  await lazy.preload();
  expect(lazy.state()).toBe('failed');
  isAway = false;
  const again = lazy.preload();
  expect(lazy.state()).toBe('absent');
  await again;
  expect(lazy.state()).toBe(Drawn);
});

test('a retry fetches all that did not come, and nothing else', async () => {
  let isAway = true;
  const fetched: string[] = [];
  const part = (name: string) =>
    new LazyComponent<object>(async () => {
      fetched.push(name);
      if (isAway) throw new TypeError('Failed to fetch dynamically imported module');
      return Drawn;
    });
  const [tabs, table, other] = [part('tabs'), part('table'), part('other')];
  await Promise.all([tabs.preload(), table.preload()]);
  isAway = false;
  LazyComponent.retry();
  await Promise.all([tabs.preload(), table.preload()]);
  expect([tabs.state(), table.state(), other.state()]).toEqual([Drawn, Drawn, 'absent']);
  expect(fetched).toEqual(['tabs', 'table', 'tabs', 'table']);
  LazyComponent.retry();
  expect(fetched).toHaveLength(4);
});
