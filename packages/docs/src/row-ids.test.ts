import { expect, test } from '@jest/globals';
import { withRowIds } from './row-ids.ts';

const row = (name: string, id = '') =>
  `<tr${id}>\n<td><code>${name}</code></td>\n<td>text of <code>another</code></td>\n</tr>`;

test('a row that begins with a name in code has an address, the first of each name', () => {
  const heading = '<h3 id="rate">Rate</h3>';
  const plain = '<tr>\n<td>points</td>\n</tr>';
  expect(
    withRowIds(heading + row('Retry-After') + row('/api/usage') + row('Retry-After') + row('rate') + plain),
  ).toBe(
    heading +
      row('Retry-After', ' id="retry-after"') +
      row('/api/usage', ' id="api-usage"') +
      row('Retry-After') +
      row('rate') +
      plain,
  );
});
