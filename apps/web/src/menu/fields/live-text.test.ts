import { menuByPath, registry } from '@tollway/schema';
import { expect, test } from 'vitest';
import { showsUnit } from './LiveText.tsx';

function prop(path: string, name: string) {
  const found = menuByPath(path)?.props[name];
  if (found === undefined) throw new Error(`${path} has no ${name}`);
  return found;
}

test('a unit stands behind a number once: not where the label or the text names it', () => {
  expect(showsUnit(prop('/queue/simple', 'dropped'))).toBe(true);
  expect(showsUnit(prop('/queue/simple', 'queued-packets'))).toBe(false);
  expect(showsUnit(prop('/queue/simple', 'rate'))).toBe(false);
  expect(showsUnit(prop('/queue/simple', 'bytes'))).toBe(false);
  expect(showsUnit(prop('/interface', 'tx-packets-per-second'))).toBe(false);
});

test('every rate of packets says that it is one', () => {
  const rates = registry.flatMap(({ path, props }) =>
    Object.entries(props).flatMap(([name, { kind, label }]) =>
      /packet-rate|packets-per-second/.test(name) ? [`${path} ${label} ${(kind.pair?.of ?? kind).unit}`] : [],
    ),
  );
  expect(rates.length).toBeGreaterThan(5);
  for (const rate of rates) expect(rate).toMatch(/\(p\/s\) p\/s$/);
});
