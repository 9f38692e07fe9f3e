import { expect, test } from 'vitest';
import { footerText } from './TableFooter.tsx';

test('the footer counts one item as one', () => {
  expect(footerText(0, 0, 0)).toBe('0 items');
  expect(footerText(1, 1, 0)).toBe('1 item');
  expect(footerText(1, 5, 0)).toBe('1 item out of 5');
  expect(footerText(16, 17, 1)).toBe('16 items out of 17 (1 selected)');
  expect(footerText(1200, 1200, 0)).toBe('1 200 items');
});

test('the footer counts no items that are not known', () => {
  expect(footerText(0, 0, 0, true)).toBe('Not known now: the packet engine does not answer');
  expect(footerText(1, 2, 1, true)).toBe(
    '1 item out of 2 without those that the packet engine knows, which does not answer (1 selected)',
  );
});
