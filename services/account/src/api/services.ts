import type { NeedsOf } from '@tollgate/operation';
import { createOpenApi } from '@tollgate/operation/api-document';
import type { ApiDocument } from '@tollgate/operation/api-document';
import { SERVICES_SECURITY } from '@tollgate/operation/security';
import { PROBES } from '@tollgate/server/health';
import { serviceClients } from '../access/clients/operations.ts';
import { serviceGrants } from '../access/connections/operations.ts';
import { serviceRegistrations } from '../access/registrations/operations.ts';
import { serviceDocuments } from '../access/documents/operations.ts';
import { serviceTokens } from '../access/tokens/auth/operations.ts';
import { serviceEntitlements } from '../billing/entitlements/operations.ts';
import { servicePlans } from '../billing/plans/operations.ts';
import { usageReports } from '../counting/reports/operations.ts';
import { serviceSnapshots } from '../counting/snapshot/operations.ts';

/** What auth and gateways ask, on the private listener, in reading order. */
export const SERVICE_API = [
  serviceClients,
  serviceTokens,
  serviceGrants,
  serviceRegistrations,
  serviceEntitlements,
  serviceDocuments,
  servicePlans,
  serviceSnapshots,
] as const;

/** What other systems report, with credentials of their own. */
export const REPORTER_API = [usageReports] as const;

/** What the handlers need of the service. */
export type ServicesNeeds = NeedsOf<typeof SERVICE_API> & NeedsOf<typeof REPORTER_API>;

const DESCRIPTION = `What auth and gateways ask account, and how other systems report usage.

It is on account's private listener, which is not for the Internet. auth and gateways have credentials of
\`SERVICE_CREDENTIALS\`, reporting systems of \`USAGE_REPORTER_CREDENTIALS\`, both by HTTP Basic; neither is accepted in
place of the other, nor an operator's. Errors are problem+json (RFC 9457) with a \`code\`; \`errors\` lists all invalid
fields of a request.`;

/** Of both. */
export function createServicesDocument(): ApiDocument {
  return createOpenApi([...SERVICE_API, ...REPORTER_API, PROBES], {
    title: 'Tollgate for services',
    description: DESCRIPTION,
    serverUrl: '/',
    securitySchemes: SERVICES_SECURITY,
  });
}
