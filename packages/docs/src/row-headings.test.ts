import { expect, test } from '@jest/globals';
import { withRowHeadings } from './row-headings.ts';

const row = (name: string) => `<tr>\n<td>${name}</td>\n<td>text of <code>another</code></td>\n</tr>`;
const code = (name: string) => `<code>${name}</code>`;

test('a row that begins with a name in code has it as a heading below the last, the first of each name', () => {
  const heading = '<h3 id="rate">Rate</h3>';
  const names = ['Retry-After', '/api/usage', 'Retry-After', 'rate'].map(code);
  expect(withRowHeadings(heading + [...names, 'points'].map(row).join(''))).toBe(
    heading +
      row(`<h4 id="retry-after">${code('Retry-After')}</h4>`) +
      row(`<h4 id="api-usage">${code('/api/usage')}</h4>`) +
      row(code('Retry-After')) +
      row(code('rate')) +
      row('points'),
  );
});
