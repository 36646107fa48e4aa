import { join, resolve } from 'node:path';
import { PRODUCT_NAME } from './placeholders.ts';

const DOCUMENTS = resolve(import.meta.dirname, '../../../docs');

/** Pages under one heading of the navigation: files from a book's folder on, without `.md`, in reading order. */
type Chapter = { label: string; pages: readonly string[] };

export type Book = {
  title: string;
  /** Where account serves it. */
  base: string;
  folder: string;
  /** The page at `base`. */
  first: string;
  chapters: readonly Chapter[];
  /** OpenAPI documents of docs/, of which each tag becomes a page. */
  references: readonly { label: string; document: string }[];
  /** Whether a link to a file that isn't a page breaks the build, or is shown without its link. */
  isClosed: boolean;
};

/** For customers of the API; `base` is on the public listener, and behind gateways. */
const customers: Book = {
  title: PRODUCT_NAME,
  base: '/docs',
  folder: join(DOCUMENTS, 'customers'),
  first: 'index',
  chapters: [
    { label: 'Start', pages: ['index', 'tokens'] },
    {
      label: 'Libraries',
      pages: ['languages', '../../clients/typescript/README', '../../clients/python/README'],
    },
    {
      label: 'Use',
      pages: [
        'limits',
        'prices',
        'subscriptions',
        'teams',
        'single-sign-on',
        'webhooks',
        'authorization',
        'agents',
      ],
    },
    { label: 'Reference', pages: ['errors'] },
  ],
  references: [{ label: 'API reference', document: join(DOCUMENTS, 'openapi.json') }],
  isClosed: true,
};

/** For those who run it; `base` is on the private listener, for signed-in operators. Decisions stay in the repository. */
const operators: Book = {
  title: `${PRODUCT_NAME} for operators`,
  base: '/operator/docs',
  folder: DOCUMENTS,
  first: 'README',
  chapters: [
    {
      label: 'Start',
      pages: ['README', 'guides/first-call', 'architecture', 'glossary'],
    },
    {
      label: 'Install',
      pages: ['containers', 'kubernetes', 'load-balancing', 'configuration', 'upstreams', 'capacity'],
    },
    {
      label: 'Run',
      pages: ['operators', 'command', 'runbook', 'metrics', 'backup', 'rotating-secrets'],
    },
    {
      label: 'Sell',
      pages: ['plans-as-code', 'guides/price-of-a-query', 'budgets', 'overage', 'reporting-usage'],
    },
    { label: 'Reference', pages: ['errors', 'webhooks', 'client-libraries', 'accessibility'] },
    {
      label: 'Design',
      pages: [
        'design/README',
        'design/tokens',
        'design/authorization',
        'design/agents',
        'design/revocation',
        'design/entitlement',
        'design/admission',
        'design/forwarding',
        'design/listeners',
        'design/settlement',
        'design/sockets',
        'design/price',
        'design/counting',
        'design/billing',
        'design/credits',
        'design/budgets',
        'design/payments',
        'design/deliveries',
        'design/identity',
        'design/console',
        'design/stores',
        'design/operations',
        'design/building',
      ],
    },
  ],
  references: [{ label: 'Operators’ API', document: join(DOCUMENTS, 'openapi-operator.json') }],
  isClosed: false,
};

export const BOOKS = { customers, operators };

/** A page's ID in the build, which is its path below `base`. */
export function idOf(book: Book, page: string): string {
  if (page === book.first) return 'index';
  return page
    .replace(/^(?:\.\.\/)+/, '')
    .replace(/\/README$/, '')
    .toLowerCase();
}

/** The path of a page. */
export function pathOf(book: Book, page: string): string {
  const id = idOf(book, page);
  return id === 'index' ? book.base : `${book.base}/${id}`;
}

export function pagesOf(book: Book): string[] {
  return book.chapters.flatMap(({ pages }) => pages);
}
