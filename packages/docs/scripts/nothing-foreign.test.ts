import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { nothingForeign } from './nothing-foreign.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-docs-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

test.each([
  ['page.html', '<script type="module" src="https://cdn.example/a.js"></script>'],
  ['page.html', '<link rel="stylesheet" href="//cdn.example/a.css">'],
  ['page.html', '<img alt="" src="https://cdn.example/a.png">'],
  ['style.css', '@font-face{src:url("https://fonts.example/a.woff2")}'],
  ['script.js', 'await import("https://cdn.example/a.js")'],
])('%s with %s breaks the build', (name, text) => {
  writeFileSync(join(directory, name), text);
  expect(() => {
    nothingForeign(directory);
  }).toThrow(`${name}: `);
});

test('links to other servers, and what is its own, are fine', () => {
  const page =
    '<link rel="canonical" href="https://a.example/"><a href="https://b.example/">b</a><script src="/docs/a.js"></script>';
  writeFileSync(join(directory, 'page.html'), page);
  writeFileSync(join(directory, 'a.js'), 'const ns = "http://www.w3.org/2000/svg"; import("./b.js")');
  writeFileSync(join(directory, 'a.css'), 'a{background:url(/docs/a.svg)}');
  nothingForeign(directory);
});
