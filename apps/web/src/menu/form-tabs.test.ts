import { expect, test } from 'vitest';
import { withExtraTabs } from './form-tabs.ts';

const Content = () => null;

test('extras fill tabs of the menu, and add others behind the tab that they name', () => {
  const extras = { Statistics: { Content }, Traffic: { Content, after: 'Statistics' }, Days: { Content, after: 'x' } };
  expect(withExtraTabs(['General', 'Statistics', 'Total'], extras)).toEqual([
    'General',
    'Statistics',
    'Traffic',
    'Total',
    'Days',
  ]);
  expect(withExtraTabs(['General'], {})).toEqual(['General']);
});
