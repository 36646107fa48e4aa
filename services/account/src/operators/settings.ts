import { z } from 'zod';

/** Where operators sign in. */
export type OperatorSite = {
  /** Ends in `/operator`. Undefined: signing in is off. */
  url: string | undefined;
  isLoopback: boolean;
  /** Whether operators with a passkey of ours can sign in. */
  allowsLocal: boolean;
};

/** `OPERATORS_URL` (docs/operators.md): the one source of links, cookies, passkeys and checks of origins. */
export const operatorsUrl = z
  .string()
  .refine((value) => {
    if (!URL.canParse(value)) return false;
    const { protocol, hostname, pathname, search, hash } = new URL(value);
    const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
    return isSafe && pathname === '/operator' && search === '' && hash === '' && value.endsWith('/operator');
  }, 'must be an https:// URL that ends in /operator; http:// on loopback only')
  .meta({ values: 'an `https://` URL that ends in `/operator`' });

/** Cookies and passkeys belong to a host, whatever its port. */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(?:\.\d{1,3}){3}$/.test(hostname)
  );
}

/** Customers' pages on the same host would share its cookies and passkeys. */
export function checkOperatorsUrl(
  settings: {
    OPERATORS_URL?: string | undefined;
    PUBLIC_URL: string;
    STREAMING_URL?: string | undefined;
    AUTH_URL?: string | undefined;
  },
  context: z.RefinementCtx,
): void {
  const { OPERATORS_URL: own, PUBLIC_URL, STREAMING_URL, AUTH_URL } = settings;
  if (own === undefined || !URL.canParse(own)) return;
  const { hostname } = new URL(own);
  if (isLoopback(hostname)) return;
  for (const [name, url] of Object.entries({ PUBLIC_URL, STREAMING_URL, AUTH_URL })) {
    if (url !== undefined && URL.canParse(url) && new URL(url).hostname === hostname) {
      context.addIssue({
        code: 'custom',
        path: ['OPERATORS_URL'],
        message: `must have another host than ${name}`,
      });
    }
  }
}
