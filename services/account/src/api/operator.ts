import type { NeedsOf } from '@tollgate/operation';
import { createOpenApi } from '@tollgate/operation/api-document';
import type { ApiDocument } from '@tollgate/operation/api-document';
import { OPERATOR_SECURITY } from '@tollgate/operation/security';
import { operatorApplications } from '../access/applications/operations.ts';
import { operatorDocuments } from '../access/documents/operations.ts';
import { operatorTokens } from '../access/tokens/operations.ts';
import { operatorPeriods } from '../billing/period-changes/operations.ts';
import { operatorCredits } from '../billing/credits/operations.ts';
import { operatorBudgets } from '../budgets/operations.ts';
import { operatorPlans } from '../billing/plans/operations.ts';
import { operatorSubscriptions } from '../billing/subscriptions/operations.ts';
import { operatorCounting } from '../counting/operations.ts';
import { operatorAccounts } from '../identity/accounts/operations.ts';
import { operatorMailing } from '../identity/mails/operator-operations.ts';
import { operatorEmailAddresses } from '../identity/people/operator-operations.ts';
import { operatorSessionsOfAccounts } from '../identity/sessions/operator-operations.ts';
import { operatorTwoFactor } from '../identity/two-factor/operator-reset.ts';
import { operatorDeletion } from '../lifecycle/deletion/operations.ts';
import { operatorWebhooks } from '../notifications/webhooks/operator-operations.ts';
import { withFourEyes } from '../operators/four-eyes/hold.ts';
import type { FourEyesNeeds } from '../operators/four-eyes/hold.ts';
import { operatorPeople } from '../operators/operations.ts';
import { operatorOperating } from '../operating/operations.ts';
import { operatorPacks } from '../payments/packs/operations.ts';
import { operatorPaymentIssues } from '../payments/issues/operations.ts';
import { operatorPayments } from '../payments/invoices/operations.ts';
import { operatorPrices } from '../payments/prices/operations.ts';
import { operatorSlotPrices } from '../payments/prices/slot-price-operations.ts';
import { operatorPurchases } from '../payments/purchases/operations.ts';
import { operatorOverage } from '../payments/overage/operations.ts';
import { operatorTopUps } from '../payments/top-ups/operations.ts';
import { operatorReconciliation } from '../payments/reconcile/operations.ts';
import { operatorPlansAsCode } from '../plans-as-code/operations.ts';
import { operatorRefusals } from '../refusals/operations.ts';
import { operatorTeams } from '../teams/operators/operations.ts';
import { operatorSso } from '../teams/sso/operator-operations.ts';
import { operatorPriceComparison } from '../usage/by-operation/operator-operations.ts';
import { operatorUsage } from '../usage/operations.ts';

/** What operators may do, on the private listener, in reading order. */
export const OPERATOR_API = withFourEyes([
  operatorAccounts,
  operatorEmailAddresses,
  operatorTwoFactor,
  operatorSessionsOfAccounts,
  operatorDeletion,
  operatorApplications,
  operatorDocuments,
  operatorTokens,
  operatorPlans,
  operatorPlansAsCode,
  operatorSubscriptions,
  operatorPeriods,
  operatorCredits,
  operatorPacks,
  operatorPurchases,
  operatorTopUps,
  operatorOverage,
  operatorPrices,
  operatorSlotPrices,
  operatorPayments,
  operatorPaymentIssues,
  operatorReconciliation,
  operatorTeams,
  operatorSso,
  operatorBudgets,
  operatorUsage,
  operatorPriceComparison,
  operatorRefusals,
  operatorMailing,
  operatorWebhooks,
  operatorCounting,
  operatorOperating,
  operatorPeople,
] as const);

/** What the handlers need of the service. */
export type OperatorNeeds = NeedsOf<typeof OPERATOR_API> & FourEyesNeeds;

const DESCRIPTION = `What operators of an installation may do. The \`tollgate\` command uses this API.

It is on account's private listener, which is not for the Internet, and needs a credential of \`OPERATOR_CREDENTIALS\`
by HTTP Basic. Errors are problem+json (RFC 9457) with a \`code\`; \`errors\` lists all invalid fields of a request. After
\`service_unavailable\`, a change may have been made. Lists are paginated: \`limit\` items per page, and \`next_cursor\` of
one page is the \`cursor\` of the next.`;

/** Of the operators' API. */
export function createOperatorDocument(): ApiDocument {
  return createOpenApi(OPERATOR_API, {
    title: 'Tollgate for operators',
    description: DESCRIPTION,
    serverUrl: '/',
    securitySchemes: OPERATOR_SECURITY,
  });
}
