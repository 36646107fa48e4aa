import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import helmet from 'helmet';

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem}' +
  'code{background:#eee;padding:.1em .3em}li{margin:.5rem 0}';

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Tollgate</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Tollgate</h1>
<p>Access tokens, plans and usage for a GraphQL data API that is sold by points.</p>
<p>The web interface for applications and tokens isn't here yet. What works, at the gateway's address:</p>
<ul>
<li><code>POST /oauth2/token</code> gives an access token for an application's client id and secret
(OAuth 2.0 client credentials, scope <code>api</code>).</li>
<li><code>POST /graphql</code> with <code>Authorization: Bearer &lt;token&gt;</code> calls the data API;
the call is metered.</li>
<li><code>GET /api/usage</code> with the same header shows the billing period, its limits and what is used.</li>
</ul>
</body>
</html>
`;

/** `GET /user`: a static page that says what this is and what works today. */
export const userPage: RequestHandler = (_req, res) => {
  res.type('html').set('cache-control', 'no-cache').send(PAGE);
};

/** Browser protection for the whole public listener. The page's own style is all that may load. */
export const browserProtection: RequestHandler = helmet({
  xFrameOptions: { action: 'deny' },
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      styleSrc: [`'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
});
