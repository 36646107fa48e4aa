import { readFileSync, statSync } from 'node:fs';
import { extname } from 'node:path';
import { Router } from 'express';
import type { RequestHandler } from 'express';
import { methodNotAllowed } from '@tollgate/http/error-handler';

/** What the operating company shows in place of ours, and where its customers read and ask. */
export type Brand = {
  productName: string;
  logoPath: string | undefined;
  /** `#rrggbb` */
  accentColor: string | undefined;
  docsUrl: string | undefined;
  supportUrl: string | undefined;
};

const LOGO_MAX_BYTES = 200_000;

const LOGO_TYPES: Readonly<Record<string, string>> = { '.svg': 'image/svg+xml', '.png': 'image/png' };

const CACHED = 'public, max-age=300';

type Replacement = [placeholder: RegExp, value: string];

/** The page with the brand's name, logo, colour and addresses in its head, where the interface reads them: no request, no flash. */
export function brandedPage(html: string, brand: Brand): string {
  const { productName, logoPath, accentColor, docsUrl, supportUrl } = brand;
  const name = escaped(productName);
  const replacements: Replacement[] = [
    [/<title>[^<]*<\/title>/, `<title>${name}</title>`],
    [/<meta name="application-name"[^>]*>/, `<meta name="application-name" content="${name}">`],
  ];
  if (logoPath !== undefined)
    replacements.push(
      [/<link rel="icon"[^>]*>/, `<link rel="icon" href="/user/logo">`],
      [/<img class="outline-logo"[^>]*>/, `<img class="outline-logo" src="/user/logo" alt="">`],
    );
  if (accentColor !== undefined)
    replacements.push([/<\/head>/, `<link rel="stylesheet" href="/user/accent.css"></head>`]);
  for (const [metaName, url] of Object.entries({ 'docs-url': docsUrl, 'support-url': supportUrl }))
    if (url !== undefined)
      replacements.push([/<\/head>/, `<meta name="${metaName}" content="${escaped(url)}"></head>`]);
  return replacements.reduce((page, [placeholder, value]) => page.replace(placeholder, () => value), html);
}

/**
 * Serves the logo and the accent colour, where they are set.
 *
 * @throws {Error} if the logo can't be read, is neither SVG nor PNG, or is larger than 200 KB.
 */
export function brandFiles({ logoPath, accentColor }: Brand): Router {
  const router = Router({ caseSensitive: true, strict: true });
  if (logoPath !== undefined)
    router.route('/user/logo').get(logo(logoPath)).all(methodNotAllowed('GET', 'HEAD'));
  if (accentColor !== undefined) {
    // Lightness and chroma stay those of the design, so that every colour has enough contrast in both themes.
    const css = `:root { --brand: ${accentColor}; }\n`;
    router
      .route('/user/accent.css')
      .get((_req, res) => {
        res.set('cache-control', CACHED).type('css').send(css);
      })
      .all(methodNotAllowed('GET', 'HEAD'));
  }
  return router;
}

function logo(path: string): RequestHandler {
  const type = LOGO_TYPES[extname(path).toLowerCase()];
  if (type === undefined) throw new Error(`PRODUCT_LOGO_PATH must name a .svg or .png file: ${path}`);
  if (statSync(path).size > LOGO_MAX_BYTES)
    throw new Error(`PRODUCT_LOGO_PATH is larger than 200 KB: ${path}`);
  const content = readFileSync(path);
  return (_req, res) => {
    // An SVG that is opened by itself could run scripts.
    res
      .set({
        'cache-control': CACHED,
        'content-type': type,
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      })
      .send(content);
  };
}

/** As text and as a quoted attribute of HTML. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
