import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { assertDocumented } from './contract/contract.ts';
import { openBrowser } from './people.ts';
import type { Browser } from './people.ts';

export type SsoAnswer = { status: number; body: Record<string, unknown>; cookies: string[] };

/** A browser with the cookie of a sign-in beside that of a session. */
export type SsoBrowser = {
  /** The session's: the same cookie and CSRF token, for all other requests. */
  session: Browser;
  /** Of the sign-in that has begun. */
  binding: string | undefined;
  call: (method: string, path: string, body?: unknown) => Promise<SsoAnswer>;
};

/** @param session of someone who is signed in already */
export function openSsoBrowser(
  account: Pick<ServiceProcess, 'publicUrl'>,
  session: Browser = openBrowser(account),
): SsoBrowser {
  const browser: SsoBrowser = {
    session,
    binding: undefined,
    call: async (method, path, body) => {
      const cookies = [session.cookie, browser.binding].filter((cookie) => cookie !== undefined);
      const response = await fetch(`${account.publicUrl}/api/console${path}`, {
        method,
        headers: {
          'x-forwarded-for': session.address,
          ...(cookies.length === 0 ? {} : { cookie: cookies.join('; ') }),
          ...(session.csrfToken === undefined ? {} : { 'x-csrf-token': session.csrfToken }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const { status, headers } = response;
      assertDocumented(method, `/api/console${path}`, { status, headers, text });
      const set = headers.getSetCookie();
      for (const cookie of set) {
        const [pair = ''] = cookie.split(';');
        const isCleared = pair.endsWith('=');
        if (pair.startsWith('tollgate_sso=')) browser.binding = isCleared ? undefined : pair;
        if (pair.startsWith('tollgate_session=')) session.cookie = isCleared ? undefined : pair;
      }
      const answer = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
      if (typeof answer['csrf_token'] === 'string') session.csrfToken = answer['csrf_token'];
      return { status, body: answer, cookies: set };
    },
  };
  return browser;
}
