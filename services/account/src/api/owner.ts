import { oauthApi } from '@tollgate/contracts/oauth-api';
import { describedChapter } from '@tollgate/operation';
import type { NeedsOf } from '@tollgate/operation';
import { createOpenApi } from '@tollgate/operation/api-document';
import type { ApiDocument } from '@tollgate/operation/api-document';
import { securitySchemes } from '@tollgate/operation/security';
import { ownerDeletion } from '../lifecycle/deletion/operations.ts';
import { ownerExport } from '../lifecycle/export/operations.ts';
import { ownerActivity } from '../identity/activity/operations.ts';
import { ownerAlerts } from '../notifications/alerts/operations.ts';
import { ownerOperatorViews } from '../identity/operator-views/operations.ts';
import { ownerAuthorization } from '../access/authorization/operations.ts';
import { ownerConnections } from '../access/connections/operations.ts';
import { ownerDocuments } from '../access/documents/operations.ts';
import { ownerApplications } from '../access/applications/operations.ts';
import { ownerBudgets } from '../budgets/operations.ts';
import { ownerPeople } from '../identity/people/operations.ts';
import { ownerSubscription } from '../self-service/operations.ts';
import { ownerSessions } from '../identity/sessions/operations.ts';
import { ownerInvoices } from '../payments/invoices/operations.ts';
import { ownerPaidSubscriptions } from '../payments/subscriptions/operations.ts';
import { ownerSlotPurchases } from '../payments/team-slots/operations.ts';
import { ownerPurchases } from '../payments/purchases/operations.ts';
import { ownerOverage } from '../payments/overage/operations.ts';
import { ownerTopUps } from '../payments/top-ups/operations.ts';
import { ownerPeriods } from '../billing/periods/own/operations.ts';
import { ownerSignIn, ownerTwoFactor } from '../identity/two-factor/operations.ts';
import { ownerInvitations, ownerTeam } from '../teams/console/operations.ts';
import { ownerTeamConnections } from '../teams/connections/operations.ts';
import { ownerDomains } from '../teams/domains/operations.ts';
import { ownerSso } from '../teams/sso/operations.ts';
import { ownerProvisioning } from '../scim/console/operations.ts';
import { ownerTokens } from '../access/tokens/operations.ts';
import { publicCredits } from '../usage/credits/operations.ts';
import { tokenUsage } from '../usage/current/operations.ts';
import { ownerRefusals } from '../refusals/console/operations.ts';
import { usageByOperation } from '../usage/by-operation/operations.ts';
import { ownerUsage } from '../usage/operations.ts';
import { ownerWebhooks } from '../notifications/webhooks/operations.ts';
import { publicAddresses } from '../console/addresses/operations.ts';
import { ownerExplorer } from '../console/explorer/operations.ts';
import { documentOperations } from '../api-document/operations.ts';
import { dataApi } from '../api-document/data-openapi.ts';

/**
 * The public API of all three services, in reading order. account serves the operations that have a handler; the others
 * are described here and served by auth and the gateway.
 */
export const OWNER_API = [
  describedChapter(oauthApi),
  describedChapter(dataApi),
  tokenUsage,
  publicCredits,
  ownerPeople,
  ownerSessions,
  ownerActivity,
  ownerExport,
  ownerDeletion,
  ownerSignIn,
  ownerTwoFactor,
  ownerOperatorViews,
  ownerApplications,
  ownerDocuments,
  ownerTokens,
  ownerAuthorization,
  ownerConnections,
  ownerTeam,
  ownerInvitations,
  ownerTeamConnections,
  ownerDomains,
  ownerSso,
  ownerProvisioning,
  ownerBudgets,
  ownerSubscription,
  ownerPaidSubscriptions,
  ownerSlotPurchases,
  ownerPurchases,
  ownerTopUps,
  ownerOverage,
  ownerInvoices,
  ownerUsage,
  usageByOperation,
  ownerRefusals,
  ownerPeriods,
  ownerAlerts,
  ownerWebhooks,
  publicAddresses,
  ownerExplorer,
  documentOperations,
] as const;

/** What the handlers need of the service. */
export type OwnerNeeds = NeedsOf<typeof OWNER_API>;

const DESCRIPTION = `Access tokens, plans and usage of a GraphQL data API that is sold by points.

**Programs** get an access token for an application (\`POST /oauth2/token\`), call the data API with it
(\`POST /graphql\`) and read their usage (\`GET /api/usage\`, \`GET /api/usage/operations\`, \`GET /api/credits\`).

**The console API** (\`/api/console\`) is the API of the web interface, and scripts can use it too. Sign in with
\`POST /api/console/session\`, keep the cookie, and send the \`csrf_token\` of the response in \`X-CSRF-Token\` with every
request other than GET.

Errors are problem+json (RFC 9457) with a \`code\`, except those of the OAuth endpoints (RFC 6749) and of the data API
(GraphQL). \`errors\` lists all invalid fields of a request. Every response has an \`X-Request-Id\`.
Times are ISO 8601 in UTC. Fields that end in \`_sec\` are seconds, in \`_bytes\` bytes. Lists are paginated: \`limit\`
items per page, and \`next_cursor\` of one page is the \`cursor\` of the next.`;

export type ApiDoor = {
  /** Relative to the document's own URL if it begins with a slash. */
  serverUrl: string;
  sessionCookie: string;
};

/** For docs/openapi.json, which belongs to no installation. */
export const ANY_DOOR: ApiDoor = { serverUrl: '/', sessionCookie: '__Host-tollgate_session' };

/** Of the public API. */
export function createApiDocument({ serverUrl, sessionCookie }: ApiDoor): ApiDocument {
  const tokenUrl = `${serverUrl.replace(/\/$/, '')}/oauth2/token`;
  return createOpenApi(OWNER_API, {
    title: 'Tollgate',
    description: DESCRIPTION,
    serverUrl,
    securitySchemes: securitySchemes({ tokenUrl, sessionCookie }),
  });
}
