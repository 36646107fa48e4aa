import { expect, test } from '@jest/globals';
import { addressesOf, withNameLinks } from './name-links.ts';

const heading = (id: string, name: string) => `<td><h4 id="${id}"><code>${name}</code></h4></td>`;

const PAGES = [
  {
    path: '/docs/limits',
    html: heading('retry-after', 'Retry-After') + heading('ratelimit', 'RateLimit') + heading('time', 'time'),
  },
  {
    path: '/docs/configuration',
    html: heading('public_port', 'PUBLIC_PORT') + heading('twice', 'SAID_TWICE'),
  },
  { path: '/docs/stores', html: '<h3 id="redis_url">REDIS_URL</h3>' },
  { path: '/docs/kubernetes', html: heading('twice', 'SAID_TWICE') },
];

test('settings and headers that one place describes have its address', () => {
  expect([...addressesOf(PAGES)]).toEqual([
    ['Retry-After', '/docs/limits#retry-after'],
    ['RateLimit', '/docs/limits#ratelimit'],
    ['PUBLIC_PORT', '/docs/configuration#public_port'],
    ['REDIS_URL', '/docs/stores#redis_url'],
  ]);
});

test('where they are named they are links, except in headings, links and samples', () => {
  const code = '<code>PUBLIC_PORT</code>';
  const kept = `<h2 id="a">${code}</h2><a href="/b">${code}</a><pre>${code}</pre>${heading('public_port', 'PUBLIC_PORT')}`;
  expect(withNameLinks(`${kept}<p>${code}, <code>time</code></p>`, addressesOf(PAGES))).toBe(
    `${kept}<p><a href="/docs/configuration#public_port">${code}</a>, <code>time</code></p>`,
  );
});
