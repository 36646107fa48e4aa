import type { Chapter, Described, Operation } from '@tollgate/operation';
import { operatorSession } from '../operators/require-operator-session.ts';
import { enterView } from '../operators/view-as/enter-view.ts';
import { VIEW_PATH } from '../operators/view-as/read-only.ts';
import type { Query } from '../platform/database/query.ts';
import { OWNER_API } from './owner.ts';
import type { OwnerNeeds } from './owner.ts';

/** What an operator who views as a customer may read. */
const VIEWED = new Set([
  'getOwnCredits',
  'getSession',
  'listSessions',
  'listActivity',
  'getOperatorViewSetting',
  'getAccountDeletion',
  'getTwoFactor',
  'listApplications',
  'getApplication',
  'listTrustedDocuments',
  'listTokens',
  'listApplicationTokens',
  'listConnections',
  'getTeam',
  'listInvitations',
  'listTeamConnections',
  'listTeamDomains',
  'getTeamSso',
  'getTeamProvisioning',
  'getApplicationBudget',
  'getMemberBudget',
  'listPlans',
  'getSubscription',
  'listOfferedPacks',
  'listPurchases',
  'getTopUp',
  'listTopUps',
  'getOverage',
  'listOverageCharges',
  'listInvoices',
  'getUsageOverTime',
  'getPace',
  'getOwnUsageByOperation',
  'listRefusals',
  'countRefusals',
  'listPeriods',
  'getAlertSettings',
  'listRecentAlerts',
  'listWebhooks',
  'getWebhook',
  'listWebhookDeliveries',
  'getAddresses',
]);

/** Reads of a session, or on the way to one, that a view has not, and why. */
export const NOT_VIEWED: Readonly<Record<string, string>> = {
  getTemporaryTokenExpiry: 'of the explorer, which a view has not',
  getAuthorizationRequest: 'on the way to a consent',
  previewSubscription: 'on the way to a change',
  previewTeamSlots: 'on the way to a change',
  previewUpgrade: 'on the way to a change',
  getSubscriptionCheckout: 'on the way to a change',
  getPurchase: 'on the way to a change',
  followPace: 'goes on after the view has ended',
  listExamples: 'of the explorer',
  getDataSchema: 'of the explorer',
  getSignUpSetting: 'before a session',
  getWaysToSignIn: 'before a session',
};

export type CustomerViewNeeds = Omit<OwnerNeeds, 'apiDocument'> & { query: Query };

const OWN_PATH = '/api/console/';

const isRead = ({ method, path }: Described) => method === 'GET' && path.startsWith(OWN_PATH);

const reads = (OWNER_API as readonly Chapter[])
  .flatMap(({ operations }) => operations as readonly Operation<CustomerViewNeeds>[])
  .filter(isRead);

const undecided = reads.filter(({ operationId }) => VIEWED.has(operationId) === operationId in NOT_VIEWED);
if (undecided.length > 0) {
  throw new Error(`may a view read ${undecided.map(({ operationId }) => operationId).join()}?`);
}

/** The customers' own operations, for an operator who views as one of them (operators/view-as). */
export const CUSTOMER_VIEW: readonly [Chapter<Operation<CustomerViewNeeds>>] = [
  {
    title: 'Viewing as a customer',
    description: 'What the customer reads.',
    operations: reads
      .filter(({ operationId }) => VIEWED.has(operationId))
      .map((read) => ({
        ...read,
        path: read.path.replace(OWN_PATH, `${VIEW_PATH}/`),
        caller: 'operator' as const,
        roles: ['support'] as const,
        guard: async (needs, req, res) => {
          const by = operatorSession.of(req, res);
          await enterView(needs.query, { req, res, by, operationId: read.operationId });
          await read.guard(needs, req, res);
        },
      })),
  },
];
