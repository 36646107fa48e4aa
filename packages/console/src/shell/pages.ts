import type { IconName } from './icons.tsx';

type Page = {
  to: string;
  label: string;
  icon: IconName;
  /** What it is about, for the search. */
  words: string;
};

/** The pages of the navigation, in its order. A group without a title stands by itself. */
export const NAVIGATION = [
  {
    title: null,
    pages: [{ to: '/', label: 'Overview', icon: 'overview', words: 'home status limits remaining forecast' }],
  },
  {
    title: 'Build',
    pages: [
      {
        to: '/api_v2/applications',
        label: 'Applications',
        icon: 'applications',
        words: 'client id client secret credentials rotate OAuth API key',
      },
      {
        to: '/api_v2/access_tokens',
        label: 'Tokens',
        icon: 'tokens',
        words: 'temporary access token bearer expiry revoke',
      },
      {
        to: '/connections',
        label: 'Connections',
        icon: 'connections',
        words: 'connected applications third-party authorized OAuth consent disconnect revoke',
      },
      {
        to: '/explorer',
        label: 'Explorer',
        icon: 'explorer',
        words: 'GraphQL query schema subscription try code sample endpoint',
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
      },
      {
        to: '/operations',
        label: 'Operations',
        icon: 'operations',
        words: 'GraphQL queries most expensive dearest points duration latency p95 document',
      },
      {
        to: '/requests',
        label: 'Refused calls',
        icon: 'requests',
        words: 'requests failed errors request ID log 401 402 429',
      },
      {
        to: '/alerts',
        label: 'Alerts',
        icon: 'alerts',
        words: 'threshold notification email limit reached',
      },
      {
        to: '/webhooks',
        label: 'Webhooks',
        icon: 'webhooks',
        words: 'webhook secret signing endpoint event delivery retry',
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
      },
      {
        to: '/team',
        label: 'Team',
        icon: 'team',
        words: 'members invite invitation slots seats remove leave hand over',
      },
      {
        to: '/account',
        label: 'Profile & security',
        icon: 'account',
        words: 'account name email address settings',
      },
    ],
  },
] as const satisfies readonly { title: string | null; pages: readonly Page[] }[];
