import { z } from 'zod';
import { SIGNING_ALGORITHMS } from '../../oidc/algorithms.ts';

/** Which of the provider's sessions have ended: that of `sid`, or without it all of `sub`. */
export type LogoutToken = {
  jti: string;
  expires_at: Date;
  sub: string | undefined;
  sid: string | undefined;
};

/** Tokens are sent at once; one that is older isn't a message of now. */
const MAX_AGE_SEC = 300;

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

const text = z.string().min(1).max(1_024);

/** OpenID Connect Back-Channel Logout 1.0, section 2.6. */
const claimsSchema = z
  .object({
    jti: text,
    iat: z.number(),
    sub: text.optional(),
    sid: text.optional(),
    events: z.object({ [EVENT]: z.object() }),
    // An ID token has one, and is none.
    nonce: z.undefined().optional(),
  })
  .refine(({ sub, sid }) => sub !== undefined || sid !== undefined, 'must have sub or sid');

type ReaderOptions = {
  clientId: string;
  clockToleranceSec: number;
  timeoutMs: number;
  refetchMs: number;
  provider: () => Promise<{ issuer: string; jwks_uri?: string | undefined }>;
};

/** Read at the first use. */
const library = async () => import('jose');

export function logoutTokenReader(options: ReaderOptions): (token: string) => Promise<LogoutToken> {
  const { clientId, clockToleranceSec, timeoutMs, refetchMs } = options;
  let keys:
    { uri: string; of: ReturnType<Awaited<ReturnType<typeof library>>['createRemoteJWKSet']> } | undefined;
  return async (token) => {
    const { createRemoteJWKSet, jwtVerify } = await library();
    const { issuer, jwks_uri: uri } = await options.provider();
    if (uri === undefined) throw new Error('the identity provider has no keys');
    // Kept, since it keeps what it has read.
    if (keys?.uri !== uri) {
      const of = createRemoteJWKSet(new URL(uri), {
        timeoutDuration: timeoutMs,
        cooldownDuration: refetchMs,
      });
      keys = { uri, of };
    }
    const { payload } = await jwtVerify(token, keys.of, {
      issuer,
      audience: clientId,
      algorithms: [...SIGNING_ALGORITHMS],
      clockTolerance: clockToleranceSec,
      maxTokenAge: MAX_AGE_SEC,
    });
    const { jti, iat, sub, sid } = claimsSchema.parse(payload);
    const expires_at = new Date((iat + MAX_AGE_SEC + 2 * clockToleranceSec) * 1_000);
    return { jti, expires_at, sub, sid };
  };
}
