import { createHash } from 'node:crypto';
import { PAGE_FILES_VERSION } from './page-files.ts';

/** What Swagger UI leaves to the page around it; and no column for links, of which there are none. */
const STYLE = [
  'body{margin:0}',
  'html.dark-mode{background:#1c2022;color-scheme:dark}',
  '.swagger-ui .responses-inner{overflow-x:auto}',
  '.swagger-ui .response-col_links{display:none}',
].join('');

/** The colours follow the system's. Nothing is sent to validators; what is tried out goes to this API alone. */
const SCRIPT = `
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#api',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
  validatorUrl: null,
});
`;

const file = (name: string) => `docs/${name}?v=${PAGE_FILES_VERSION}`;

export const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tollgate API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${file('swagger-ui.css')}">
<style>${STYLE}</style>
</head>
<body>
<noscript>This page needs JavaScript. The same as JSON: <a href="openapi.json">openapi.json</a>.</noscript>
<div id="api"></div>
<script src="${file('swagger-ui-bundle.js')}"></script>
<script>${SCRIPT}</script>
</body>
</html>
`;

/** The page's own script and style, by their hashes; its files and the document, from here; pictures within them. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `script-src 'self' ${hashOf(SCRIPT)}`,
  `style-src 'self' ${hashOf(STYLE)}`,
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join(';');

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
