import { alertApi } from '../notifications/alerts/openapi.ts';
import { applicationApi } from '../access/applications/openapi.ts';
import { peopleApi } from '../identity/people/openapi.ts';
import { sessionApi } from '../identity/sessions/openapi.ts';
import { invitationApi, teamApi } from '../teams/console/openapi.ts';
import { tokenApi } from '../access/tokens/openapi.ts';
import { usageApi } from '../usage/endpoint/openapi.ts';
import { usageViewApi } from '../usage/views/openapi.ts';
import { webhookApi } from '../notifications/webhooks/openapi.ts';
import { documentApi } from './openapi.ts';
import { dataApi } from './data-openapi.ts';
import { oauthApi } from './oauth-openapi.ts';
import type { ApiChapter } from '../http/operation.ts';

/** In the order in which a newcomer meets them. */
export const API_CHAPTERS: readonly ApiChapter[] = [
  oauthApi,
  dataApi,
  usageApi,
  peopleApi,
  sessionApi,
  applicationApi,
  tokenApi,
  teamApi,
  invitationApi,
  usageViewApi,
  alertApi,
  webhookApi,
  documentApi,
];

export const API_DESCRIPTION = `Access tokens, plans and usage of a GraphQL data API that is sold by points.

**A program** gets an access token for its application (\`POST /oauth2/token\`), calls the data API with it
(\`POST /graphql\`) and sees what is used (\`GET /api/usage\`).

**The console** (\`/api/console\`) is what the web interface stands on, and a script can use it too: sign in by
\`POST /api/console/session\`, keep the cookie, and send the \`csrf_token\` of its answer in \`X-CSRF-Token\` with every
request that isn't a GET.

Errors are problem+json (RFC 9457) with a \`code\`, but those of the OAuth endpoints (RFC 6749) and of the data API
(GraphQL). A faulty request's \`errors\` name all faulty fields. Every answer has an \`X-Request-Id\`.
Times are ISO 8601 in UTC; fields that end in \`_sec\` are seconds, in \`_bytes\` bytes. Lists are read page by page:
\`limit\` items, and the next page by the \`next_cursor\` of the one before.`;
