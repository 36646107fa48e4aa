import { join } from 'node:path';
import type { Router } from 'express';
import { bookRouter } from './book.ts';
import { escaped } from './brand.ts';
import type { Brand } from './brand.ts';

export type BookAddresses = {
  publicUrl: string;
  /** Null: that of the web interface, as is `authUrl`. */
  streamingUrl: string | null;
  authUrl: string | null;
};

/** The customers' book at /docs, with this installation's name, colour and addresses. `books`: the built ones. */
export function customersBook(
  books: string,
  { brand, publicUrl, streamingUrl, authUrl }: BookAddresses & { brand: Brand },
): Router {
  const { productName, logoPath, accentColor } = brand;
  const dataUrl = streamingUrl ?? publicUrl;
  // What the placeholders stand for (packages/docs/src/placeholders.ts).
  const values: readonly (readonly [placeholder: string, value: string])[] = [
    ['%PRODUCT_NAME%', productName],
    ['https://data.tollgate.example', dataUrl],
    ['wss://data.tollgate.example', dataUrl.replace(/^http/, 'ws')],
    ['https://auth.tollgate.example', authUrl ?? publicUrl],
    ['https://tollgate.example', publicUrl],
    ...(logoPath === undefined ? [] : [['/docs/mark.svg', '/user/logo'] as const]),
  ];
  return bookRouter('/docs', {
    directory: join(books, 'customers'),
    own: (html) => {
      const own = values.reduce(
        (page, [placeholder, value]) => page.replaceAll(placeholder, () => escaped(value)),
        html,
      );
      return accentColor === undefined
        ? own
        : own.replace('</head>', '<link rel="stylesheet" href="/user/accent.css"></head>');
    },
  });
}
