/**
 * The interface's pages: their addresses, as Express patterns, and their modules below src/pages. account answers
 * exactly these with the page, and anything else below /user with 404, which is the page too if a browser asks. A page
 * that is added to the router is added here.
 */
export const PAGE_MODULES = {
  '/user': 'overview/overview.tsx',
  // Where links to the overview lead: the router ends its base path so.
  '/user/': 'overview/overview.tsx',
  '/user/sign-in': 'entry/sign-in/sign-in.tsx',
  '/user/sso': 'entry/sso/sso.tsx',
  '/user/sso/:team_id': 'entry/sso/sso-answer.tsx',
  '/user/sign-up': 'entry/sign-up.tsx',
  '/user/verify-email': 'entry/verify-email.tsx',
  '/user/forgot-password': 'entry/forgot-password.tsx',
  '/user/reset-password': 'entry/reset-password.tsx',
  '/user/invitation': 'entry/invitation.tsx',
  '/user/connect/:request_id': 'entry/connect/connect.tsx',
  '/user/connections': 'connections/connections.tsx',
  '/user/api_v2/applications': 'applications/applications.tsx',
  '/user/api_v2/applications/:application_id': 'applications/application.tsx',
  '/user/api_v2/access_tokens': 'tokens/tokens.tsx',
  '/user/explorer': 'explorer/explorer.tsx',
  '/user/plan': 'plan/plan.tsx',
  '/user/usage': 'usage/usage.tsx',
  '/user/operations': 'operations/operations.tsx',
  '/user/team': 'team/team.tsx',
  '/user/requests': 'requests/requests.tsx',
  '/user/alerts': 'alerts/alerts.tsx',
  '/user/webhooks': 'webhooks/webhooks.tsx',
  '/user/webhooks/:webhook_id': 'webhooks/webhook.tsx',
  '/user/account': 'account/account.tsx',
  '/user/account/security': 'account/account.tsx',
  '/user/account/activity': 'account/account.tsx',
  '/user/account/data': 'account/account.tsx',
} as const;

/** Why a person, and not the application, is told of an authorization request that can't be answered. */
export const AUTHORIZATION_FAULTS = [
  'malformed',
  'unknown_client',
  'client_document',
  'redirect_uri',
  'refused',
] as const;

export type AuthorizationFault = (typeof AUTHORIZATION_FAULTS)[number];

type ConsolePath = keyof typeof PAGE_MODULES;

export const CONSOLE_PATHS = Object.keys(PAGE_MODULES) as readonly ConsolePath[];

/** Whether a page is shown without a session. */
export function isEntryPath(path: ConsolePath): boolean {
  return PAGE_MODULES[path].startsWith('entry/');
}
