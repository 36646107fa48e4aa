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

function contentOf(name: string): string | null {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? null;
}
