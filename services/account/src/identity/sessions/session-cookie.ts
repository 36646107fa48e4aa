import { parseCookie } from 'cookie';
import type { CookieOptions, Request, Response } from 'express';
import { isSecretToken } from '../secret-token.ts';

export type SessionCookie = {
  name: string;
  read: (req: Pick<Request, 'headers'>) => string | undefined;
  set: (res: Response, token: string, expiresAt: Date) => void;
  clear: (res: Response) => void;
};

/** Of customers. */
const CUSTOMER = { baseName: 'tollgate_session', sameSite: 'lax', plainPath: '/' } as const;

/**
 * HttpOnly, so that no script reads it; SameSite=Lax, so that no other site's form carries it. Behind TLS it is Secure
 * and `__Host-`, so that a sibling domain or plain HTTP can't set it (RFC 6265bis, section 4.1.3.2).
 */
export function createSessionCookie(
  { secure }: { secure: boolean },
  /** `plainPath`: without TLS, since `__Host-` requires `/`. */
  {
    baseName,
    sameSite,
    plainPath,
  }: { baseName: string; sameSite: 'lax' | 'strict'; plainPath: string } = CUSTOMER,
): SessionCookie {
  const name = secure ? `__Host-${baseName}` : baseName;
  const options: CookieOptions = { httpOnly: true, sameSite, secure, path: secure ? '/' : plainPath };
  return {
    name,
    read: ({ headers }) => {
      const token = parseCookie(headers.cookie ?? '')[name];
      return token !== undefined && isSecretToken(token) ? token : undefined;
    },
    set: (res, token, expiresAt) => {
      res.cookie(name, token, { ...options, expires: expiresAt });
    },
    clear: (res) => {
      res.clearCookie(name, options);
    },
  };
}
