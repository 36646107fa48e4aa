/** Pages without a session. */
const ENTRY_PATHS = [
  '/user/sign-in',
  '/user/sign-up',
  '/user/verify-email',
  '/user/forgot-password',
  '/user/reset-password',
  '/user/invitation',
] as const;

export function isEntryPath(path: string): boolean {
  return (ENTRY_PATHS as readonly string[]).includes(path);
}

/**
 * The addresses of the interface's pages, as Express patterns: account answers exactly these with the page, and
 * anything else below /user with 404, which is the page too if a browser asks. A page that is added to the router is added here.
 */
export const CONSOLE_PATHS = [
  '/user',
  // Where links to the overview lead: the router ends its base path so.
  '/user/',
  ...ENTRY_PATHS,
  '/user/api_v2/applications',
  '/user/api_v2/applications/:application_id',
  '/user/api_v2/access_tokens',
  '/user/explorer',
  '/user/plan',
  '/user/usage',
  '/user/team',
  '/user/requests',
  '/user/alerts',
  '/user/webhooks',
  '/user/webhooks/:webhook_id',
  '/user/account',
  '/user/account/security',
  '/user/account/activity',
  '/user/account/data',
] as const;
