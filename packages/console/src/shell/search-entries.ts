import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { allApplicationsQuery } from '../api/applications.ts';
import { useSignOut } from '../api/sign-out.ts';
import { allTokensQuery } from '../api/tokens.ts';
import { ACCOUNT_PAGES } from '../pages/account/account-pages.ts';
import { catalogueQuery } from '../pages/plan/queries.ts';
import { requestIdIn } from '../pages/requests/search.ts';
import { teamQuery } from '../pages/team/queries.ts';
import { HELP } from './navigation.tsx';
import { NAVIGATION } from './pages.ts';
import { switchTheme } from './theme-switch.tsx';

type Entry = {
  id: string;
  label: string;
  /** Other words for it, which people type. */
  words: string;
  /** Beside the label, such as whose it is. */
  detail?: string;
  /** A path below /user, or what to do. */
  leadsTo: string | (() => void);
};

type Section = { title: string; entries: readonly Entry[] };

const PAGES = [...NAVIGATION.flatMap((group) => [...group.pages]), ...ACCOUNT_PAGES.slice(1)].map(
  ({ to, label, words }) => ({ id: to, label, words, leadsTo: to === '/' ? '' : to }),
);

const ACTIONS = [
  { id: 'new', label: 'New application', words: 'create add', leadsTo: '/api_v2/applications#new' },
  {
    id: 'generate',
    label: 'Generate access token',
    words: 'create new manual',
    leadsTo: '/api_v2/access_tokens#generate',
  },
  { id: 'invite', label: 'Invite a team member', words: 'add person', leadsTo: '/team#invite' },
  { id: 'change-plan', label: 'Change plan', words: 'upgrade downgrade buy', leadsTo: '/plan#change' },
  {
    id: 'theme',
    label: 'Switch theme',
    words: 'dark light mode appearance colours',
    leadsTo: switchTheme,
  },
];

const HELP_ENTRIES = HELP.map(({ label, href }) => ({
  id: href,
  label,
  words: 'documentation guide help contact OpenAPI errors',
  leadsTo: () => {
    open(href, '_blank', 'noreferrer');
  },
}));

/** Everything that the search finds, in the order in which it is offered. `text` may hold a request ID. */
export function useSearchEntries({ isOpen, text }: { isOpen: boolean; text: string }): {
  sections: readonly Section[];
  isIncomplete: boolean;
  follow: (entry: Entry) => void;
} {
  const router = useRouter();
  const signOut = useSignOut();
  const { sections: own, isIncomplete } = useOwnEntries(isOpen);
  const rotations = useRotations(isOpen && ABOUT_SECRETS.test(text));
  const leave = { id: 'sign-out', label: 'Sign out', words: 'log out leave', leadsTo: () => void signOut() };
  const sections = [
    { title: 'Refused calls', entries: callOf(text) },
    { title: 'Pages', entries: PAGES },
    ...own,
    { title: 'Actions', entries: [...ACTIONS, ...rotations, leave] },
    { title: 'Help', entries: HELP_ENTRIES },
  ];
  return {
    sections: sections.filter(({ entries }) => entries.length > 0),
    isIncomplete,
    follow: ({ leadsTo }) => {
      if (typeof leadsTo === 'string') router.history.push(`/user${leadsTo}`);
      else leadsTo();
    },
  };
}

function callOf(text: string): Entry[] {
  const requestId = requestIdIn(text);
  if (requestId === null) return [];
  const label = `Find call ${requestId.slice(0, 8)}…`;
  return [{ id: 'request', label, words: text, leadsTo: `/requests?request_id=${requestId}` }];
}

/** An application's name alone finds the application. */
const ABOUT_SECRETS = /\b(?:rota|secret|leak|credential)/i;

/** The rotation of each application's secret. */
function useRotations(enabled: boolean): Entry[] {
  const { data = [] } = useQuery({ ...allApplicationsQuery, enabled });
  if (!enabled) return [];
  return data.map(({ application_id, name }) => ({
    id: `rotate-${String(application_id)}`,
    label: `Rotate the client secret of ${name}`,
    words: 'replace leaked credentials',
    leadsTo: `/api_v2/applications/${String(application_id)}#rotate`,
  }));
}

/** What the account has, by name. */
function useOwnEntries(enabled: boolean): { sections: readonly Section[]; isIncomplete: boolean } {
  const applications = useQuery({ ...allApplicationsQuery, enabled });
  const tokens = useQuery({ ...allTokensQuery, enabled });
  const team = useQuery({ ...teamQuery, enabled });
  const plans = useQuery({ ...catalogueQuery, enabled });
  const sections = [
    {
      title: 'Applications',
      entries: (applications.data ?? []).map(({ application_id, name, client_id }) => ({
        id: `application-${String(application_id)}`,
        label: name,
        words: client_id,
        detail: `${client_id.slice(0, 8)}…`,
        leadsTo: `/api_v2/applications/${String(application_id)}`,
      })),
    },
    {
      title: 'Tokens',
      entries: (tokens.data ?? []).map(({ token_id, name, application_id, application_name }) => ({
        id: `token-${String(token_id)}`,
        label: name,
        words: application_name,
        detail: application_name,
        leadsTo: `/api_v2/applications/${String(application_id)}#tokens`,
      })),
    },
    {
      title: 'Team members',
      entries: (team.data?.members ?? []).map(({ account_id, name, email }) => ({
        id: `member-${String(account_id)}`,
        label: name,
        words: email,
        detail: email,
        leadsTo: '/team',
      })),
    },
    {
      title: 'Plans',
      entries: (plans.data ?? []).map(({ plan_id, name, prices }) => ({
        id: `plan-${String(plan_id)}`,
        label: name,
        words: 'plan upgrade downgrade price',
        detail: prices.month ?? '',
        leadsTo: `/plan#plan-${String(plan_id)}`,
      })),
    },
  ];
  const isIncomplete = [applications, tokens, team, plans].some(
    ({ isError, data }) => isError && data === undefined,
  );
  return { sections, isIncomplete };
}
