/**
 * The addresses of the interface's pages, as Express patterns: account answers exactly these with the page, and
 * anything else below /user with 404. A page that is added to the router is added here.
 */
export const CONSOLE_PATHS = [
  '/user',
  '/user/sign-in',
  '/user/api_v2/applications',
  '/user/api_v2/applications/:application_id',
] as const;
