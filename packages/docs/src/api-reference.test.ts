import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { referenceIds, referencePages } from './api-reference.ts';
import { BOOKS } from './books.ts';

describe.each(Object.entries(BOOKS))('the API reference of the %s’ book', (_name, book) => {
  const document = book.references[0]?.document ?? '';
  const pages = referencePages(document, book);
  const { paths } = JSON.parse(readFileSync(document, 'utf8')) as {
    paths: Record<string, Record<string, { summary: string; responses: object }>>;
  };

  test('has each operation, with its path and its errors', () => {
    const text = pages.map(({ body }) => body).join('\n\n');
    const missing = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .map(([method, { summary }]) => `## ${summary}\n\n\`${method.toUpperCase()} ${path}\`\n`)
        .filter((heading) => !text.includes(heading)),
    );
    expect(missing).toEqual([]);
    expect(text).not.toMatch(/\bundefined\b|\[object Object\]/);
  });

  test('has a page for each tag, with an address of its own', () => {
    expect(pages.map(({ id }) => id)).toEqual(referenceIds(document));
    expect(new Set(pages.map(({ id }) => id)).size).toBe(pages.length);
  });
});

test('fields within lists and objects are listed by their path, with type, need and bounds', () => {
  const page = referencePages(BOOKS.operators.references[0]?.document ?? '', BOOKS.operators).find(
    ({ id }) => id === 'api/credits',
  );
  expect(page?.body).toContain('| `differences[].account_id` | integer | At least 1. |');
  expect(page?.body).toMatch(/\| `account_id` \| integer \| .*At least 1\. \|/);
  expect(page?.body).toContain('[Errors](/operator/docs/errors)');
});
