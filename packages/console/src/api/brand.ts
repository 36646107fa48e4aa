import { AUTHORIZATION_FAULTS } from './paths.ts';

/**
 * What account writes into the page's head: name, logo and addresses (PRODUCT_NAME, PRODUCT_LOGO_PATH, DOCS_URL,
 * SUPPORT_URL). An address that isn't set is null.
 */
export const brand = {
  name: contentOf('application-name') ?? 'Tollgate',
  logo: document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.href ?? '',
  docsUrl: contentOf('docs-url'),
  supportUrl: contentOf('support-url'),
};

/** Where account serves the customers' book. DOCS_URL may name another one, with other sections. */
export const BOOK = '/docs';

/** Why this page is shown in place of an answer to an application (console-page.ts of account). */
export const authorizationFault =
  AUTHORIZATION_FAULTS.find((fault) => fault === contentOf('authorization-fault')) ?? null;

function contentOf(name: string): string | null {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? null;
}
