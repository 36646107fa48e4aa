/** The pages of the navigation, in its order. A group without a title stands by itself. */
export const NAVIGATION = [
  { title: null, pages: [{ to: '/', label: 'Overview' }] },
  {
    title: 'Authorization',
    pages: [
      { to: '/api_v2/applications', label: 'Applications' },
      { to: '/api_v2/access_tokens', label: 'Tokens' },
    ],
  },
  { title: null, pages: [{ to: '/explorer', label: 'Explorer' }] },
  {
    title: 'Activity',
    pages: [
      { to: '/usage', label: 'Usage' },
      { to: '/requests', label: 'Requests' },
    ],
  },
  {
    title: 'Account',
    pages: [
      { to: '/plan', label: 'Plan' },
      { to: '/team', label: 'Team' },
      { to: '/alerts', label: 'Alerts' },
      { to: '/webhooks', label: 'Webhooks' },
      { to: '/account', label: 'Account' },
    ],
  },
] as const;
