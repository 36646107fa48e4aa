import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router';
import { sessionQuery } from './api/session.ts';
import './api/arrived-answer.ts';
import { NotFoundPage } from './pages/not-found.tsx';
import { usageSearch } from './pages/usage/search.ts';
import type { RequestsParams } from './pages/requests/search.ts';
import { queryClient } from './query-client.ts';
import { lazyRouteComponent } from './shell/lazy-route-component.ts';
import { PageFailed, StartFailed } from './shell/page-failed.tsx';
import { Shell } from './shell/shell.tsx';
import { listSearch } from './ui/list/list-search.ts';

const root = createRootRoute({
  notFoundComponent: NotFoundPage,
  errorComponent: StartFailed,
});

function signInSearch({ next }: Record<string, unknown>): { next?: string } {
  return typeof next === 'string' ? { next } : {};
}

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: signInSearch,
  component: lazyRouteComponent(() => import('./pages/entry/sign-in/sign-in.tsx'), 'SignInPage'),
});

const sso = createRoute({
  getParentRoute: () => root,
  path: '/sso',
  validateSearch: signInSearch,
  component: lazyRouteComponent(() => import('./pages/entry/sso/sso.tsx'), 'SsoPage'),
});

const ssoAnswer = createRoute({
  getParentRoute: () => root,
  path: '/sso/$teamId',
  params: { parse: ({ teamId }) => ({ teamId: Number(teamId) }) },
  component: lazyRouteComponent(() => import('./pages/entry/sso/sso-answer.tsx'), 'SsoAnswerPage'),
});

const signUp = createRoute({
  getParentRoute: () => root,
  path: '/sign-up',
  component: lazyRouteComponent(() => import('./pages/entry/sign-up.tsx'), 'SignUpPage'),
});

const verifyEmail = createRoute({
  getParentRoute: () => root,
  path: '/verify-email',
  component: lazyRouteComponent(() => import('./pages/entry/verify-email.tsx'), 'VerifyEmailPage'),
});

const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  component: lazyRouteComponent(() => import('./pages/entry/forgot-password.tsx'), 'ForgotPasswordPage'),
});

const resetPassword = createRoute({
  getParentRoute: () => root,
  path: '/reset-password',
  component: lazyRouteComponent(() => import('./pages/entry/reset-password.tsx'), 'ResetPasswordPage'),
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: lazyRouteComponent(() => import('./pages/entry/invitation.tsx'), 'InvitationPage'),
});

/** Without a session, sign in and come back. */
async function requireSession({ location }: { location: { href: string } }): Promise<void> {
  const session = await queryClient.query({ ...sessionQuery, staleTime: 'static' });
  // eslint-disable-next-line @typescript-eslint/only-throw-error -- TanStack Router redirects by a thrown response.
  if (session === null) throw redirect({ to: '/sign-in', search: { next: location.href } });
}

const connect = createRoute({
  getParentRoute: () => root,
  path: '/connect/$requestId',
  beforeLoad: requireSession,
  component: lazyRouteComponent(() => import('./pages/entry/connect/connect.tsx'), 'ConnectPage'),
});

/** Everything else that needs a session. In a view, it has another frame (operator/view/main.tsx). */
export const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  beforeLoad: requireSession,
  component: Shell,
  errorComponent: StartFailed,
});

const overview = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  component: lazyRouteComponent(() => import('./pages/overview/overview.tsx'), 'OverviewPage'),
});

const applications = createRoute({
  getParentRoute: () => signedIn,
  path: '/api_v2/applications',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('./pages/applications/applications.tsx'), 'ApplicationsPage'),
});

const application = createRoute({
  getParentRoute: () => signedIn,
  path: '/api_v2/applications/$applicationId',
  validateSearch: listSearch,
  params: { parse: ({ applicationId }) => ({ applicationId: Number(applicationId) }) },
  component: lazyRouteComponent(() => import('./pages/applications/application.tsx'), 'ApplicationPage'),
});

const tokens = createRoute({
  getParentRoute: () => signedIn,
  path: '/api_v2/access_tokens',
  validateSearch: listSearch,
  component: lazyRouteComponent(() => import('./pages/tokens/tokens.tsx'), 'TokensPage'),
});

const connections = createRoute({
  getParentRoute: () => signedIn,
  path: '/connections',
  component: lazyRouteComponent(() => import('./pages/connections/connections.tsx'), 'ConnectionsPage'),
});

/** main.tsx gives it its page, which a view has not: it would load the editor. */
export const explorer = createRoute({ getParentRoute: () => signedIn, path: '/explorer' });

function isId(value: unknown): boolean {
  return Number.isSafeInteger(Number(value)) && Number(value) > 0;
}

const plan = createRoute({
  getParentRoute: () => signedIn,
  path: '/plan',
  // A payment page leads back with it.
  validateSearch: ({ purchase, checkout }): { purchase?: number; checkout?: number } => ({
    ...(isId(purchase) && { purchase: Number(purchase) }),
    ...(isId(checkout) && { checkout: Number(checkout) }),
  }),
  component: lazyRouteComponent(() => import('./pages/plan/plan.tsx'), 'PlanPage'),
});

const usage = createRoute({
  getParentRoute: () => signedIn,
  path: '/usage',
  validateSearch: usageSearch,
  component: lazyRouteComponent(() => import('./pages/usage/usage.tsx'), 'UsagePage'),
});

const operations = createRoute({
  getParentRoute: () => signedIn,
  path: '/operations',
  validateSearch: (search): { range?: unknown } => search,
  component: lazyRouteComponent(() => import('./pages/operations/operations.tsx'), 'OperationsPage'),
});

const team = createRoute({
  getParentRoute: () => signedIn,
  path: '/team',
  component: lazyRouteComponent(() => import('./pages/team/team.tsx'), 'TeamPage'),
});

const requests = createRoute({
  getParentRoute: () => signedIn,
  path: '/requests',
  // The page reads them, so that no other page loads what that takes.
  validateSearch: (search): RequestsParams => search,
  component: lazyRouteComponent(() => import('./pages/requests/requests.tsx'), 'RequestsPage'),
});

const alerts = createRoute({
  getParentRoute: () => signedIn,
  path: '/alerts',
  component: lazyRouteComponent(() => import('./pages/alerts/alerts.tsx'), 'AlertsPage'),
});

const webhooks = createRoute({
  getParentRoute: () => signedIn,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('./pages/webhooks/webhooks.tsx'), 'WebhooksPage'),
});

const webhook = createRoute({
  getParentRoute: () => signedIn,
  path: '/webhooks/$webhookId',
  validateSearch: listSearch,
  params: { parse: ({ webhookId }) => ({ webhookId: Number(webhookId) }) },
  component: lazyRouteComponent(() => import('./pages/webhooks/webhook.tsx'), 'WebhookPage'),
});

const profile = createRoute({
  getParentRoute: () => signedIn,
  path: '/account',
  component: lazyRouteComponent(() => import('./pages/account/account.tsx'), 'ProfilePage'),
});

const security = createRoute({
  getParentRoute: () => signedIn,
  path: '/account/security',
  component: lazyRouteComponent(() => import('./pages/account/account.tsx'), 'SecurityPage'),
});

const activity = createRoute({
  getParentRoute: () => signedIn,
  path: '/account/activity',
  component: lazyRouteComponent(() => import('./pages/account/account.tsx'), 'ActivityPage'),
});

const accountData = createRoute({
  getParentRoute: () => signedIn,
  path: '/account/data',
  component: lazyRouteComponent(() => import('./pages/account/account.tsx'), 'DataPage'),
});

const entryPages = [
  signIn,
  sso,
  ssoAnswer,
  signUp,
  verifyEmail,
  forgotPassword,
  resetPassword,
  invitation,
  connect,
] as const;

const customerPages = [
  overview,
  plan,
  applications,
  application,
  tokens,
  connections,
  explorer,
  usage,
  operations,
  requests,
  team,
  alerts,
  webhooks,
  webhook,
  profile,
  security,
  activity,
  accountData,
] as const;

/** The route table of the interface; paths are below /user. */
export const router = createRouter({
  basepath: '/user',
  routeTree: root.addChildren([...entryPages, signedIn.addChildren([...customerPages])]),
  defaultPreload: 'intent',
  defaultErrorComponent: PageFailed,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
