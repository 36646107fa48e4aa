/** The name and the logo that account writes into the page's head (PRODUCT_NAME, PRODUCT_LOGO_PATH). */
export const brand = {
  name: document.querySelector<HTMLMetaElement>('meta[name="application-name"]')?.content ?? 'Tollgate',
  logo: document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.href ?? '',
};
