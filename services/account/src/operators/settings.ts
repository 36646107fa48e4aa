import { z } from 'zod';
import { OPERATOR_ROLES } from '@tollgate/contracts/operator-roles';
import type { OperatorRole } from '@tollgate/contracts/operator-roles';

/** Where operators sign in. */
export type OperatorSite = {
  /** Ends in `/operator`. Undefined: signing in is off. */
  url: string | undefined;
  isLoopback: boolean;
  /** Whether operators with a passkey of ours can sign in. */
  allowsLocal: boolean;
  /** The identity provider by which operators sign in; undefined without one. */
  issuer: string | undefined;
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

/** `OPERATORS_OIDC_ISSUER`: compared with what the provider says of itself. */
export const oidcIssuer = z
  .string()
  .refine((value) => {
    if (!URL.canParse(value)) return false;
    const { protocol, hostname, search, hash, username } = new URL(value);
    const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
    return isSafe && search === '' && hash === '' && username === '';
  }, 'must be an https:// URL without a query; http:// on loopback only')
  .meta({ values: 'an `https://` URL' });

const isRole = z.enum(OPERATOR_ROLES);

/** `OPERATORS_OIDC_GROUPS`, in the order of the setting. */
export const oidcGroups = z
  .string()
  .transform((value) => value.split(/[,\n]/).map((pair) => pair.trim()))
  .transform((pairs) => pairs.filter((pair) => pair !== ''))
  .transform((pairs, context) => {
    const roles = new Map<string, OperatorRole>();
    for (const pair of pairs) {
      const at = pair.lastIndexOf('=');
      const group = decoded(pair.slice(0, Math.max(at, 0)).trim());
      const { data: role } = isRole.safeParse(pair.slice(at + 1).trim());
      if (role === undefined || group === undefined || group === '' || group === '*' || roles.has(group)) {
        context.addIssue({
          code: 'custom',
          message: `must be group=role pairs separated by commas, each group once and never *, with the roles ${OPERATOR_ROLES.join(', ')}; write a comma in a group as %2C and a % as %25`,
        });
        return z.NEVER;
      }
      roles.set(group, role);
    }
    return roles;
  })
  .meta({ values: `\`group=role\` pairs; ${OPERATOR_ROLES.map((role) => `\`${role}\``).join(', ')}` });

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** All of it or nothing: with half of it no one could sign in. */
export function checkOidc(
  settings: {
    OPERATORS_URL?: string | undefined;
    OPERATORS_OIDC_ISSUER?: string | undefined;
    OPERATORS_OIDC_CLIENT_ID?: string | undefined;
    OPERATORS_OIDC_CLIENT_SECRET?: string | undefined;
    OPERATORS_OIDC_GROUPS: ReadonlyMap<string, OperatorRole>;
  },
  context: z.RefinementCtx,
): void {
  const { OPERATORS_OIDC_ISSUER, OPERATORS_OIDC_CLIENT_ID, OPERATORS_OIDC_CLIENT_SECRET } = settings;
  const groups = settings.OPERATORS_OIDC_GROUPS.size === 0 ? undefined : settings.OPERATORS_OIDC_GROUPS;
  const parts = {
    OPERATORS_OIDC_ISSUER,
    OPERATORS_OIDC_CLIENT_ID,
    OPERATORS_OIDC_CLIENT_SECRET,
    OPERATORS_OIDC_GROUPS: groups,
  };
  const names = Object.entries(parts);
  const set = names.filter(([, value]) => value !== undefined);
  if (set.length === 0) return;
  const missing = names.filter(([, value]) => value === undefined).map(([name]) => name);
  if (settings.OPERATORS_URL === undefined) missing.push('OPERATORS_URL');
  for (const name of missing) {
    context.addIssue({
      code: 'custom',
      path: [name],
      message: `is required with ${set[0]?.[0] ?? ''}`,
    });
  }
}
