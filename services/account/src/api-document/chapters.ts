import { deletionApi } from '../lifecycle/deletion/openapi.ts';
import { exportApi } from '../lifecycle/export/openapi.ts';
import { activityApi } from '../identity/activity/openapi.ts';
import { alertApi } from '../notifications/alerts/openapi.ts';
import { applicationApi } from '../access/applications/openapi.ts';
import { peopleApi } from '../identity/people/openapi.ts';
import { subscriptionApi } from '../self-service/openapi.ts';
import { sessionApi } from '../identity/sessions/openapi.ts';
import { ownPeriodApi } from '../billing/periods/own/openapi.ts';
import { signInApi, twoFactorApi } from '../identity/two-factor/openapi.ts';
import { invitationApi, teamApi } from '../teams/console/openapi.ts';
import { tokenApi } from '../access/tokens/openapi.ts';
import { usageApi } from '../usage/current/openapi.ts';
import { refusalApi } from '../refusals/console/openapi.ts';
import { usageViewApi } from '../usage/views/openapi.ts';
import { webhookApi } from '../notifications/webhooks/openapi.ts';
import { addressesApi } from '../console/addresses/openapi.ts';
import { documentApi } from './openapi.ts';
import { dataApi } from './data-openapi.ts';
import { oauthApi } from './oauth-openapi.ts';
import type { ApiChapter } from '../http/operation.ts';

/** In reading order. */
export const API_CHAPTERS: readonly ApiChapter[] = [
  oauthApi,
  dataApi,
  usageApi,
  peopleApi,
  sessionApi,
  activityApi,
  exportApi,
  deletionApi,
  signInApi,
  twoFactorApi,
  applicationApi,
  tokenApi,
  teamApi,
  invitationApi,
  subscriptionApi,
  usageViewApi,
  refusalApi,
  ownPeriodApi,
  alertApi,
  webhookApi,
  addressesApi,
  documentApi,
];

export const API_DESCRIPTION = `Access tokens, plans and usage of a GraphQL data API that is sold by points.

**Programs** get an access token for an application (\`POST /oauth2/token\`), call the data API with it
(\`POST /graphql\`) and read their usage (\`GET /api/usage\`).

**The console API** (\`/api/console\`) is the API of the web interface, and scripts can use it too. Sign in with
\`POST /api/console/session\`, keep the cookie, and send the \`csrf_token\` of the response in \`X-CSRF-Token\` with every
request other than GET.

Errors are problem+json (RFC 9457) with a \`code\`, except those of the OAuth endpoints (RFC 6749) and of the data API
(GraphQL). \`errors\` lists all invalid fields of a request. Every response has an \`X-Request-Id\`.
Times are ISO 8601 in UTC. Fields that end in \`_sec\` are seconds, in \`_bytes\` bytes. Lists are paginated: \`limit\`
items per page, and \`next_cursor\` of one page is the \`cursor\` of the next.`;
