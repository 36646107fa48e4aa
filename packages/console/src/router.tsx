import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router';
import { sessionQuery } from './api/queries.ts';
import { ForgotPasswordPage } from './pages/entry/forgot-password.tsx';
import { InvitationPage } from './pages/entry/invitation.tsx';
import { ResetPasswordPage } from './pages/entry/reset-password.tsx';
import { SignInPage } from './pages/entry/sign-in.tsx';
import { SignUpPage } from './pages/entry/sign-up.tsx';
import { VerifyEmailPage } from './pages/entry/verify-email.tsx';
import { ApplicationPage } from './pages/application.tsx';
import { ApplicationsPage } from './pages/applications.tsx';
import { NotFoundPage } from './pages/not-found.tsx';
import { OverviewPage } from './pages/overview.tsx';
import { TokensPage } from './pages/tokens.tsx';
import { queryClient } from './query-client.ts';
import { Shell } from './shell/shell.tsx';
import { ErrorMessage } from './ui/states.tsx';

const root = createRootRoute({
  notFoundComponent: NotFoundPage,
  errorComponent: ({ error, reset }) => <ErrorMessage error={error} onRetry={reset} />,
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search): { next?: string } =>
    typeof search['next'] === 'string' ? { next: search['next'] } : {},
  component: SignInPage,
});

const signUp = createRoute({ getParentRoute: () => root, path: '/sign-up', component: SignUpPage });

const verifyEmail = createRoute({
  getParentRoute: () => root,
  path: '/verify-email',
  component: VerifyEmailPage,
});

const forgotPassword = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  component: ForgotPasswordPage,
});

const resetPassword = createRoute({
  getParentRoute: () => root,
  path: '/reset-password',
  component: ResetPasswordPage,
});

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: InvitationPage,
});

/** Everything that needs a session: without one, sign in and come back. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  beforeLoad: async ({ location }) => {
    const session = await queryClient.query({ ...sessionQuery, staleTime: 'static' });
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- TanStack Router redirects by a thrown response.
    if (session === null) throw redirect({ to: '/sign-in', search: { next: location.href } });
  },
  component: Shell,
});

const overview = createRoute({ getParentRoute: () => signedIn, path: '/', component: OverviewPage });

const applications = createRoute({
  getParentRoute: () => signedIn,
  path: '/api_v2/applications',
  component: ApplicationsPage,
});

const tokens = createRoute({
  getParentRoute: () => signedIn,
  path: '/api_v2/access_tokens',
  component: TokensPage,
});

const application = createRoute({
  getParentRoute: () => signedIn,
  path: '/api_v2/applications/$applicationId',
  params: { parse: ({ applicationId }) => ({ applicationId: Number(applicationId) }) },
  component: ApplicationRoute,
});

function ApplicationRoute() {
  const { applicationId } = application.useParams();
  return <ApplicationPage applicationId={applicationId} />;
}

/** The route table of the interface; paths are below /user. */
export const router = createRouter({
  basepath: '/user',
  routeTree: root.addChildren([
    signIn,
    signUp,
    verifyEmail,
    forgotPassword,
    resetPassword,
    invitation,
    signedIn.addChildren([overview, applications, application, tokens]),
  ]),
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
