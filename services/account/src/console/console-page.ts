import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Router } from 'express';
import type { RequestHandler } from 'express';
import { AUTHORIZATION_FAULTS, CONSOLE_PATHS, isEntryPath } from '@tollgate/console/paths';
import type { AuthorizationFault } from '@tollgate/console/paths';
import { methodNotAllowed } from '@tollgate/http/error-handler';
import type { PublicAddresses } from './addresses/operations.ts';
import { brandFiles, brandedPage } from './brand.ts';
import type { Brand } from './brand.ts';
import { hashedFiles, notBuilt, ofBuild } from './built-files.ts';
import { forPeople, pageEndpoint } from './page-endpoint.ts';

/** React Aria adds this style for touch screens; only its hash is allowed. */
export const PRESSABLE_STYLE = "'sha256-38RhXrc7EdReTKsOm23ZPOCUgniTUUcjky8QOOrQx6o='";

/** The policy of the pages. The explorer calls the data endpoint, and Monaco's workers are files of ours. */
function policyFor(streamingUrl: string | null): string {
  const dataOrigin = streamingUrl === null ? '' : new URL(streamingUrl).origin;
  const data = dataOrigin === '' ? '' : ` ${dataOrigin} ${dataOrigin.replace(/^http/, 'ws')}`;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    `style-src 'self' ${PRESSABLE_STYLE}`,
    "font-src 'self'",
    "img-src 'self'",
    `connect-src 'self'${data}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Shown at `/oauth2/authorize`, with the reason in its head. */
export type FaultPage = (fault: AuthorizationFault) => RequestHandler;

const notThere = notBuilt('The web interface is not built.');

const PAGES = /^\/user(?:\/|$)/;
const NOT_A_FILE = /^\/user\/(?!assets\/)/;

type ConsoleOptions = Pick<PublicAddresses, 'streamingUrl'> & { brand: Brand };

/** Caches hashed assets for a year. @throws {Problem} service_unavailable while `directory` holds no build. */
export function consolePage(
  directory: string,
  options: ConsoleOptions,
): { router: Router; faultPage: FaultPage } {
  const built = ofBuild(join(directory, 'index.html'), () => builtConsole(directory, options));
  const router = Router({ caseSensitive: true, strict: true });
  router.use(brandFiles(options.brand));
  const absent = Router({ caseSensitive: true, strict: true });
  for (const path of CONSOLE_PATHS) absent.route(path).get(notThere).all(methodNotAllowed('GET', 'HEAD'));
  router.use((req, res, next) => {
    if (PAGES.test(req.path)) (built()?.router ?? absent)(req, res, next);
    else next();
  });
  return { router, faultPage: (fault) => built()?.faultPage(fault) ?? notThere };
}

function builtConsole(directory: string, { streamingUrl, brand }: ConsoleOptions) {
  const router = Router({ caseSensitive: true, strict: true });
  const html = brandedPage(readFileSync(join(directory, 'index.html'), 'utf8'), brand);
  const preloads = readPreloads(directory);
  const policy = policyFor(streamingUrl);
  for (const path of CONSOLE_PATHS) {
    const own = html.replace('</head>', () => `${preloads[path] ?? ''}</head>`);
    const page = pageEndpoint(() => (isEntryPath(path) ? withoutSession(own) : own), policy);
    router.route(path).get(page).all(methodNotAllowed('GET', 'HEAD'));
  }
  router.use('/user/assets', hashedFiles(join(directory, 'assets')));
  router.get(NOT_A_FILE, forPeople(pageEndpoint(() => withoutSession(html), policy)));
  return { router, faultPage: faultPages(withoutSession(html), policy) };
}

/** The page at another service's address: its scripts read from the head why it is shown. */
function faultPages(html: string, policy: string): FaultPage {
  const pages = new Map(
    AUTHORIZATION_FAULTS.map((fault) => {
      const meta = `<meta name="authorization-fault" content="${fault}"></head>`;
      return [fault, pageEndpoint(() => html.replace('</head>', meta), policy)];
    }),
  );
  return (fault) => pages.get(fault) ?? notThere;
}

/** The links to each page's own files, by its path. @throws {Error} ENOENT, for a build that isn't whole. */
function readPreloads(directory: string): Readonly<Record<string, string>> {
  return JSON.parse(readFileSync(join(directory, 'preloads.json'), 'utf8')) as Record<string, string>;
}

/** Without a session, what is painted before the scripts have loaded has no navigation, and nothing is asked for. */
function withoutSession(html: string): string {
  return html
    .replace('data-page="app"', 'data-page="entry"')
    .replace(/<link rel="preload" as="fetch"[^>]*>/, '');
}
