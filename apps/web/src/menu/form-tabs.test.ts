import { expect, test } from 'vitest';
import type { Row } from '../api/row.ts';
import { LazyComponent } from '../ui/lazy-component.tsx';
import { withExtraTabs } from './form-tabs.ts';

const content = new LazyComponent<{ readonly row: Row }>(async () => () => null);

test('extras fill tabs of the menu, and add others behind the tab that they name', () => {
  const extras = { Statistics: { content }, Traffic: { content, after: 'Statistics' }, Days: { content, after: 'x' } };
  expect(withExtraTabs(['General', 'Statistics', 'Total'], extras)).toEqual([
    'General',
    'Statistics',
    'Traffic',
    'Total',
    'Days',
  ]);
  expect(withExtraTabs(['General'], {})).toEqual(['General']);
});
