import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { allApplicationsQuery } from '../api/applications.ts';
import { allTokensQuery } from '../api/tokens.ts';
import { catalogueQuery } from '../pages/plan/queries.ts';
import { requestIdIn } from '../pages/requests/search.ts';
import { teamQuery } from '../pages/team/queries.ts';
import { ACCOUNT_PAGES, NAVIGATION } from './pages.ts';
import { HELP } from './navigation.tsx';
import { switchTheme } from './theme-switch.tsx';
import { useSignOut } from './use-sign-out.ts';

type Entry = {
  id: string;
  label: string;
  /** Other words for it, which people type. */
  words: string;
  /** Beside the label, such as whose it is. */
  detail?: string;
  run: () => void;
};

type Section = { title: string; entries: readonly Entry[] };

/** Everything that the search finds, in the order in which it is offered. */
export function useSearchEntries({ isOpen, text }: { isOpen: boolean; text: string }): {
  sections: readonly Section[];
  isIncomplete: boolean;
} {
  const router = useRouter();
  const signOut = useSignOut();
  const applications = useQuery({ ...allApplicationsQuery, enabled: isOpen });
  const tokens = useQuery({ ...allTokensQuery, enabled: isOpen });
  const team = useQuery({ ...teamQuery, enabled: isOpen });
  const plans = useQuery({ ...catalogueQuery, enabled: isOpen });
  const go = (path: string) => () => {
    router.history.push(`/user${path}`);
  };
  const pages = [...NAVIGATION.flatMap((group) => [...group.pages]), ...ACCOUNT_PAGES].filter(
    ({ to }, index, all) => all.findIndex((other) => other.to === to) === index,
  );
  const requestId = requestIdIn(text);
  const sections: Section[] = [
    {
      title: 'Requests',
      entries:
        requestId === null
          ? []
          : [
              {
                id: 'request',
                label: `Find call ${requestId.slice(0, 8)}…`,
                words: text,
                run: go(`/requests?request_id=${requestId}`),
              },
            ],
    },
    {
      title: 'Pages',
      entries: pages.map(({ to, label, words }) => ({
        id: to,
        label,
        words,
        run: go(to === '/' ? '' : to),
      })),
    },
    {
      title: 'Applications',
      entries: (applications.data ?? []).map(({ application_id, name, client_id }) => ({
        id: `application-${String(application_id)}`,
        label: name,
        words: client_id,
        detail: `${client_id.slice(0, 8)}…`,
        run: go(`/api_v2/applications/${String(application_id)}`),
      })),
    },
    {
      title: 'Tokens',
      entries: (tokens.data ?? []).map(({ token_id, name, application_id, application_name }) => ({
        id: `token-${String(token_id)}`,
        label: name,
        words: application_name,
        detail: application_name,
        run: go(`/api_v2/applications/${String(application_id)}#tokens`),
      })),
    },
    {
      title: 'Team members',
      entries: (team.data?.members ?? []).map(({ account_id, name, email }) => ({
        id: `member-${String(account_id)}`,
        label: name,
        words: email,
        detail: email,
        run: go('/team'),
      })),
    },
    {
      title: 'Plans',
      entries: (plans.data ?? []).map(({ plan_id, name, prices }) => ({
        id: `plan-${String(plan_id)}`,
        label: name,
        words: 'plan upgrade downgrade price',
        ...(prices.month === null ? {} : { detail: prices.month }),
        run: go('/plan'),
      })),
    },
    {
      title: 'Actions',
      entries: [
        { id: 'new', label: 'New application', words: 'create add', run: go('/api_v2/applications#new') },
        {
          id: 'generate',
          label: 'Generate access token',
          words: 'create new manual',
          run: go('/api_v2/access_tokens#generate'),
        },
        { id: 'invite', label: 'Invite a team member', words: 'add person', run: go('/team#invite') },
        {
          id: 'rotate',
          label: 'Rotate a client secret',
          words: 'replace leaked credentials',
          run: go(`/api_v2/applications${onlyOne(applications.data)}`),
        },
        { id: 'change-plan', label: 'Change plan', words: 'upgrade downgrade buy', run: go('/plan') },
        {
          id: 'theme',
          label: 'Switch theme',
          words: 'dark light mode appearance colours',
          run: switchTheme,
        },
        { id: 'sign-out', label: 'Sign out', words: 'log out leave', run: () => void signOut() },
      ],
    },
    {
      title: 'Help',
      entries: HELP.map(({ label, href }) => ({
        id: href,
        label,
        words: 'documentation guide help contact OpenAPI errors',
        run: () => {
          open(href, '_blank', 'noreferrer');
        },
      })),
    },
  ];
  return {
    sections: sections.filter(({ entries }) => entries.length > 0),
    isIncomplete: [applications, tokens, team, plans].some(
      ({ isError, data }) => isError && data === undefined,
    ),
  };
}

/** The path of the one application; with several, the list offers the choice. */
function onlyOne(applications: readonly { application_id: number }[] | undefined): string {
  const [first, ...others] = applications ?? [];
  return first === undefined || others.length > 0 ? '' : `/${String(first.application_id)}`;
}
