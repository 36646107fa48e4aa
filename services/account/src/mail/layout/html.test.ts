import { expect, test } from '@jest/globals';
import { markup } from './html.ts';

test('a value becomes text, in elements and in attributes', () => {
  const name = `</p><script>alert("x")</script> & 'more'`;
  expect(markup`<p title="${name}">${name}</p>`.html).toBe(`<p title="${escaped}">${escaped}</p>`);
});

const escaped = '&lt;/p&gt;&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;more&#39;';

test('markup is kept, one by one or as a list', () => {
  const item = markup`<li>${'a<b'}</li>`;
  expect(markup`<ul>${[item, item]}</ul>${item}`.html).toBe(
    '<ul><li>a&lt;b</li><li>a&lt;b</li></ul><li>a&lt;b</li>',
  );
});
