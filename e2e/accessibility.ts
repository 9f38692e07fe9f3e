import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from '@playwright/test';

/** Accessibility violations of impact serious or critical that axe finds in the page, or in the part of it that the selector names. */
export async function accessibilityViolations(page: Page, within?: string): Promise<string[]> {
  // Passed checks are not listed: a table has a thousand nodes.
  const builder = new AxeBuilder({ page }).options({ resultTypes: ['violations'] });
  const { violations } = await (within === undefined ? builder : builder.include(within)).analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' ')).join(', ')}`);
}
