/** The parts of the account, each a page of its own; `words` are what the search knows them by. */
export const ACCOUNT_PAGES = [
  { to: '/account', label: 'Profile', words: 'name email address change' },
  {
    to: '/account/security',
    label: 'Security',
    words:
      'password 2FA two-factor authentication authenticator app passkey recovery codes sessions sign out everywhere',
  },
  { to: '/account/activity', label: 'Activity', words: 'audit log history events' },
  { to: '/account/data', label: 'Data', words: 'export download delete account privacy' },
] as const;
