import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Router } from 'express';
import type { RequestHandler } from 'express';
import { methodNotAllowed } from '@tollgate/http/error-handler';
import { absentBook } from './absent-book.ts';
import { builtFiles, hashedFiles, ofBuild } from './built-files.ts';
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

type BookOptions = {
  directory: string;
  /** Writes what is this installation's into a page. */
  own: (html: string) => string;
};

/** A book at its path: the build of packages/docs in `directory`. Without it, its pages are 503. */
export function bookRouter(base: string, options: BookOptions): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const pages = new RegExp(`^${base}(?:/|$)`);
  const absent = absentBook(pages, options.own);
  const book = ofBuild(join(options.directory, 'index.html'), () => builtBook(base, options));
  router.use((req, res, next) => {
    if (pages.test(req.path)) (book() ?? absent)(req, res, next);
    else next();
  });
  return router;
}

function builtBook(base: string, { directory, own }: BookOptions): Router {
  const router = Router({ caseSensitive: true, strict: true });
  const read = (name: string) => pageEndpoint(() => own(readFileSync(join(directory, name), 'utf8')), POLICY);
  for (const name of globSync('**/index.html', { cwd: directory })) {
    const path = join(base, dirname(name));
    router.route(path).get(read(name)).all(methodNotAllowed('GET', 'HEAD'));
    router.get(`${path}/`, (_req, res) => {
      res.redirect(301, path);
    });
  }
  router.use(`${base}/_astro`, hashedFiles(join(directory, '_astro')));
  for (const name of globSync('pagefind/fragment/*', { cwd: directory }))
    router.get(
      join(base, name),
      pageEndpoint(() => ownExcerpts(join(directory, name), own), POLICY, 'bin'),
    );
  router.use(`${base}/pagefind`, searchHeaders, builtFiles(join(directory, 'pagefind')));
  const libraries = join(directory, 'libraries');
  if (existsSync(libraries)) router.use(`${base}/libraries`, builtFiles(libraries));
  const mark = readFileSync(join(directory, 'mark.svg'));
  router.get(`${base}/mark.svg`, (_req, res) => {
    res.set('cache-control', 'no-cache').type('svg').send(mark);
  });
  router.get(new RegExp(`^${base}/`), forPeople(read('404.html')));
  return router;
}

/** What a file of excerpts begins with once it is decompressed; Pagefind reads it either way. */
const DECOMPRESSED = 'pagefind_dcd';

/** The text of a page that the search quotes from, with what is this installation's. */
function ownExcerpts(file: string, own: (html: string) => string): string {
  const text = gunzipSync(readFileSync(file)).toString();
  const page = JSON.parse(text.slice(DECOMPRESSED.length)) as { content: string };
  return DECOMPRESSED + JSON.stringify({ ...page, content: own(page.content) });
}

/** Before the file is looked at: a 304 replaces the policy that the browser has kept, so it needs the same. */
const searchHeaders: RequestHandler = (req, res, next) => {
  // Some of the search's names stay the same from build to build.
  res.set('cache-control', 'no-cache');
  if (req.path === SEARCH_WORKER) res.set('content-security-policy', SEARCH_POLICY);
  next();
};
