/** The book's chapters and their pages: files of docs/customers, in reading order. */
export const PAGES = [
  { label: 'Start', pages: ['index', 'tokens'] },
  {
    label: 'Use',
    pages: ['limits', 'prices', 'subscriptions', 'teams', 'webhooks', 'authorization', 'agents'],
  },
  { label: 'Reference', pages: ['errors'] },
] as const;
