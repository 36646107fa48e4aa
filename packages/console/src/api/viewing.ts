/**
 * Whether these are the pages of a customer as an operator sees them (src/operator/view). They are the same pages, which
 * only read there. Known when customers' pages are built, so that these have nothing of it.
 */
export const isViewing =
  import.meta.env.BASE_URL !== '/user/' && location.pathname.startsWith('/operator/view');
