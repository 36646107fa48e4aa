import { CALL_CODES } from '@tollgate/contracts/call-codes';
import type { CallCode } from '@tollgate/contracts/call-codes';
import { CONSOLE_PATHS } from './paths.ts';

/** A page of the interface, below /user. */
type Page = { to: string; label: string };

const TOKENS: Page = { to: '/api_v2/access_tokens', label: 'Go to Tokens' };
const PLAN: Page = { to: '/plan', label: 'Go to Plan' };

const PAGES: Readonly<Record<string, Page>> = {
  unauthorized: TOKENS,
  forbidden: TOKENS,
  no_active_billing_period: PLAN,
  points_limit_exceeded: PLAN,
  call_too_expensive: PLAN,
  time_limit_exceeded: PLAN,
  traffic_limit_exceeded: PLAN,
  rate_limit_exceeded: PLAN,
  session_limit_exceeded: PLAN,
  subscription_limit_exceeded: PLAN,
};

/** What a code means, how to fix it, and where; a code that this build doesn't know is its own title. */
export type CodeExplanation = Partial<CallCode> & { title: string; page: Page | null };

/** Explains the `code` of a refused or failed data call (docs/errors.md). */
export function explainCode(code: string): CodeExplanation {
  return { title: code, ...CALL_CODES[code], page: pageOf(code) };
}

/** Null if the interface has no such page. */
function pageOf(code: string): Page | null {
  const page = PAGES[code];
  const paths: readonly string[] = CONSOLE_PATHS;
  return page !== undefined && paths.includes(`/user${page.to}`) ? page : null;
}
