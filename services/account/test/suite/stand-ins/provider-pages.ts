/** Goes through the pages of oidc-provider, as a browser would. */

/** What a browser keeps of the provider. */
export type Jar = Map<string, string>;

type ProviderPage = { url: URL; html: string };

/** Follows redirects within the provider; an address at `origin`, which is ours, is where it ends. */
export async function openPage(
  { jar, origin }: { jar: Jar; origin: string },
  to: URL,
  form?: URLSearchParams,
): Promise<ProviderPage> {
  let url = to;
  let body = form;
  for (let hop = 0; hop < 10; hop += 1) {
    if (url.origin === origin) return { url, html: '' };
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...jar].map((pair) => pair.join('=')).join('; ') },
      ...(body === undefined ? {} : { method: 'POST', body }),
    });
    for (const set of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (set.split(';')[0] ?? '').split('=');
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) return { url, html: await response.text() };
    url = new URL(location, url);
    body = undefined;
  }
  throw new Error(`too many redirects: ${url.href}`);
}

/** As the form on the page, with what someone types and presses. */
export function submitPage(
  browser: { jar: Jar; origin: string },
  { url, html }: ProviderPage,
  typed: Record<string, string>,
): Promise<ProviderPage> {
  const action = /<form[^>]* action="([^"]+)"/.exec(html)?.[1];
  if (action === undefined) throw new Error(`no form at ${url.href}`);
  const hidden = [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  const fields = hidden.map(([, name = '', value = '']): [string, string] => [name, value]);
  return openPage(browser, new URL(action, url), new URLSearchParams([...fields, ...Object.entries(typed)]));
}

/** @returns where the provider has led back to, and how often it has asked who it is */
export async function signInAtProvider(
  browser: { jar: Jar; origin: string },
  authorizationUrl: string,
  name: string,
): Promise<{ url: URL; asked: number }> {
  let page = await openPage(browser, new URL(authorizationUrl));
  let asked = 0;
  while (page.url.origin !== browser.origin) {
    const isLogin = page.html.includes('name="login"');
    if (isLogin) asked += 1;
    page = await submitPage(browser, page, isLogin ? { login: name, password: 'any' } : {});
  }
  return { url: page.url, asked };
}
