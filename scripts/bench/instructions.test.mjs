// @ts-check
import { expect, test } from 'vitest';
import { parseCounts } from './instructions.mjs';

test('totals are found by case', () => {
  const output = [
    'instructions::engine::instructions route_1:(steady("route-1"))',
    '  Instructions:                                    1396928|N/A                  (*********)',
    '  L1 Hits:                                         1886112|N/A                  (*********)',
    'instructions::engine::instructions slow_25:(slow("slow-25"))',
    '  Instructions:                                    5112664|5112664              (No change)',
  ].join('\n');
  expect(parseCounts(output)).toEqual([
    { name: 'route-1', instructions: 1_396_928 },
    { name: 'slow-25', instructions: 5_112_664 },
  ]);
});
