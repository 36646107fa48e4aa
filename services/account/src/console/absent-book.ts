import { createHash } from 'node:crypto';
import { Router } from 'express';
import { notBuilt } from './built-files.ts';
import { forPeople, pageEndpoint } from './page-endpoint.ts';

/** A book takes some ten seconds to build. */
const RETRY_SEC = 5;

const STYLE = 'body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}';

const PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="${String(RETRY_SEC)}">
<title>Documentation | %PRODUCT_NAME%</title><style>${STYLE}</style></head>
<body><h1>The documentation isn’t available yet</h1>
<p>It is built after the first start, which takes less than a minute. This page tries again every ${String(RETRY_SEC)} seconds.</p>
</body></html>
`;

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** In place of the pages of a book that isn't there yet. `own`: as of the book's pages. */
export function absentBook(pages: RegExp, own: (html: string) => string): Router {
  return Router().get(
    pages,
    (_req, res, next) => {
      res.set('retry-after', String(RETRY_SEC));
      next();
    },
    forPeople(
      pageEndpoint(() => own(PAGE), POLICY),
      503,
    ),
    notBuilt('The documentation is not built.'),
  );
}
