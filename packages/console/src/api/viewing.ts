/**
 * Whether these are the pages of a customer as an operator sees them (src/operator/view). They are the same pages, which
 * only read there. Known when customers' pages are built, so that these have nothing of it.
 */
export const isViewing =
  // Tests of single functions have no build, and no browser.
  (import.meta.env as Partial<ImportMetaEnv> | undefined)?.BASE_URL !== '/user/' &&
  (globalThis.location as Location | undefined)?.pathname.startsWith('/operator/view') === true;
