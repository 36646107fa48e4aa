import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Router } from 'express';
import type { RequestHandler } from 'express';
import { methodNotAllowed } from '@tollgate/http/error-handler';
import { escaped } from './brand.ts';
import type { Brand } from './brand.ts';
import { builtFiles, hashedFiles, notBuilt } from './built-files.ts';
import { forPeople, pageEndpoint } from './page-endpoint.ts';

/** Nothing of another origin, and nothing inline; Starlight's styles have drawings within them. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** A worker obeys the policy of its own file. The search runs WebAssembly there, and reads its index. */
const SEARCH_WORKER = '/pagefind-worker.js';
const SEARCH_POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";

export type DocsAddresses = {
  publicUrl: string;
  /** Null: that of the web interface, as is `authUrl`. */
  streamingUrl: string | null;
  authUrl: string | null;
};

/**
 * The customers' book at /docs: the build of packages/docs, with this installation's name, colour and addresses.
 *
 * `directory`: without a build, its pages are 503.
 */
export function docsPage(
  directory: string,
  { brand, ...addresses }: DocsAddresses & { brand: Brand },
): Router {
  const router = Router({ caseSensitive: true, strict: true });
  if (!existsSync(join(directory, 'index.html'))) {
    router.get(/^\/docs(?:\/|$)/, notBuilt('The documentation is not built.'));
    return router;
  }
  const read = (name: string) =>
    pageEndpoint(ownPage(readFileSync(join(directory, name), 'utf8'), brand, addresses), POLICY);
  for (const name of globSync('**/index.html', { cwd: directory })) {
    const path = join('/docs', dirname(name));
    router.route(path).get(read(name)).all(methodNotAllowed('GET', 'HEAD'));
    router.get(`${path}/`, (_req, res) => {
      res.redirect(301, path);
    });
  }
  router.use('/docs/_astro', hashedFiles(join(directory, '_astro')));
  router.use('/docs/pagefind', searchHeaders, builtFiles(join(directory, 'pagefind')));
  const mark = readFileSync(join(directory, 'mark.svg'));
  router.get('/docs/mark.svg', (_req, res) => {
    res.set('cache-control', 'no-cache').type('svg').send(mark);
  });
  router.get(/^\/docs\//, forPeople(read('404.html')));
  return router;
}

/** Before the file is looked at: a 304 replaces the policy that the browser has kept, so it needs the same. */
const searchHeaders: RequestHandler = (req, res, next) => {
  // Some of the search's names stay the same from build to build.
  res.set('cache-control', 'no-cache');
  if (req.path === SEARCH_WORKER) res.set('content-security-policy', SEARCH_POLICY);
  next();
};

/** The page with what its placeholders stand for (packages/docs/src/placeholders.ts). */
function ownPage(
  html: string,
  { productName, logoPath, accentColor }: Brand,
  { publicUrl, streamingUrl, authUrl }: DocsAddresses,
): string {
  const values: readonly (readonly [placeholder: string, value: string])[] = [
    ['%PRODUCT_NAME%', productName],
    ['https://data.tollgate.example', streamingUrl ?? publicUrl],
    ['https://auth.tollgate.example', authUrl ?? publicUrl],
    ['https://tollgate.example', publicUrl],
    ...(logoPath === undefined ? [] : [['/docs/mark.svg', '/user/logo'] as const]),
  ];
  const own = values.reduce(
    (page, [placeholder, value]) => page.replaceAll(placeholder, () => escaped(value)),
    html,
  );
  return accentColor === undefined
    ? own
    : own.replace('</head>', '<link rel="stylesheet" href="/user/accent.css"></head>');
}
