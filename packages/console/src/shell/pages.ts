import type { IconName } from './icons.tsx';

export type Page = {
  to: string;
  label: string;
  icon: IconName;
  /** What it is about, for the search. */
  words: string;
  /** Where the customers' book tells of it, below its first page. */
  docs: string;
};

/** The pages of the navigation, in its order. A group without a title stands by itself. */
export const NAVIGATION = [
  {
    title: null,
    pages: [
      {
        to: '/',
        label: 'Overview',
        icon: 'overview',
        words: 'home status limits remaining forecast',
        docs: '',
      },
    ],
  },
  {
    title: 'Build',
    pages: [
      {
        to: '/api_v2/applications',
        label: 'Applications',
        icon: 'applications',
        words: 'client id client secret credentials rotate OAuth API key',
        docs: '/tokens',
      },
      {
        to: '/api_v2/access_tokens',
        label: 'Tokens',
        icon: 'tokens',
        words: 'temporary access token bearer expiry revoke',
        docs: '/tokens#keep-it',
      },
      {
        to: '/connections',
        label: 'Connections',
        icon: 'connections',
        words: 'connected applications third-party authorized OAuth consent disconnect revoke',
        docs: '/authorization#for-users',
      },
      {
        to: '/explorer',
        label: 'Explorer',
        icon: 'explorer',
        words: 'GraphQL query schema subscription try code sample endpoint',
        docs: '/prices#before-the-call',
      },
    ],
  },
  {
    title: 'Monitor',
    pages: [
      {
        to: '/usage',
        label: 'Usage',
        icon: 'usage',
        words: 'points traffic time chart CSV billing period export report',
        docs: '/limits',
      },
      {
        to: '/operations',
        label: 'Operations',
        icon: 'operations',
        words: 'GraphQL queries most expensive dearest points duration latency p95 document',
        docs: '/prices#spend-less',
      },
      {
        to: '/requests',
        label: 'Refused calls',
        icon: 'requests',
        words: 'requests failed errors request ID log 401 402 429',
        docs: '/limits#what-to-do-at-a-refusal',
      },
      {
        to: '/alerts',
        label: 'Alerts',
        icon: 'alerts',
        words: 'threshold notification email limit reached',
        docs: '/limits#alerts',
      },
      {
        to: '/webhooks',
        label: 'Webhooks',
        icon: 'webhooks',
        words: 'webhook secret signing endpoint event delivery retry',
        docs: '/webhooks',
      },
    ],
  },
  {
    title: 'Account',
    pages: [
      {
        to: '/plan',
        label: 'Plan',
        icon: 'plan',
        words:
          'subscription price upgrade downgrade cancel rate limit calls per minute billing slots renewal trial',
        docs: '/prices#when-the-points-run-out',
      },
      {
        to: '/team',
        label: 'Team',
        icon: 'team',
        words: 'members invite invitation slots seats remove leave hand over',
        docs: '/teams',
      },
      {
        to: '/account',
        label: 'Profile & security',
        icon: 'account',
        words: 'account name email address settings',
        docs: '',
      },
    ],
  },
] as const satisfies readonly { title: string | null; pages: readonly Page[] }[];
