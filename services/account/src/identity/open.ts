import { availableParallelism } from 'node:os';
import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Config } from '../config.ts';
import type { Platform } from '../platform/open.ts';
import type { SealingKey } from '../platform/sealing/sealing.ts';
import { createAttemptCounts } from './attempts/attempt-counts.ts';
import type { AttemptCounts } from './attempts/attempt-counts.ts';
import type { MailLimits } from './attempts/mail-limits.ts';
import { createSlowDown } from './attempts/sign-in-limits.ts';
import type { SignInLimits, SlowDown } from './attempts/sign-in-limits.ts';
import { createPasswordHasher, hashWidth } from './passwords/password-hasher.ts';
import type { PasswordHasher } from './passwords/password-hasher.ts';
import { createSessionCookie } from './sessions/session-cookie.ts';
import type { SessionCookie } from './sessions/session-cookie.ts';
import type { SessionLifetimes } from './sessions/session-store.ts';
import { relyingPartyOf } from './two-factor/passkeys/relying-party.ts';
import type { RelyingParty } from './two-factor/passkeys/relying-party.ts';

/** People, their sessions and second factors. */
export function openIdentity({ config, query, registry }: Pick<Platform, 'config' | 'query' | 'registry'>): {
  needs: {
    hasher: PasswordHasher;
    counts: AttemptCounts;
    signInLimits: SignInLimits;
    mailLimits: MailLimits;
    slowDown: SlowDown;
    lifetimes: SessionLifetimes;
    cookie: SessionCookie;
    sealingKeys: readonly SealingKey[];
    relyingParty: RelyingParty | undefined;
    productName: string;
    signUpEnabled: boolean;
  };
} {
  const publicUrl = config.PUBLIC_URL;
  return {
    needs: {
      hasher: createHasher(config, registry),
      counts: createAttemptCounts(query),
      signInLimits: {
        windowSec: config.SIGN_IN_WINDOW_SEC,
        perAccountAndAddress: config.SIGN_IN_FAILURES_PER_ACCOUNT_AND_ADDRESS,
        perAddress: config.SIGN_IN_FAILURES_PER_ADDRESS,
      },
      mailLimits: {
        windowSec: config.MAIL_REQUESTS_WINDOW_SEC,
        perRecipient: config.MAIL_REQUESTS_PER_RECIPIENT,
        perAddress: config.MAIL_REQUESTS_PER_ADDRESS,
        perAccount: config.MAIL_REQUESTS_PER_ACCOUNT,
      },
      slowDown: createSlowDown(),
      lifetimes: {
        idleTimeoutSec: config.SESSION_IDLE_TIMEOUT_SEC,
        lifetimeSec: config.SESSION_LIFETIME_SEC,
      },
      cookie: createSessionCookie({ secure: config.COOKIE_SECURE ?? publicUrl.startsWith('https:') }),
      sealingKeys: config.TOKEN_SEALING_KEYS,
      relyingParty: relyingPartyOf(publicUrl),
      productName: config.PRODUCT_NAME,
      signUpEnabled: config.SIGN_UP_ENABLED,
    },
  };
}

function createHasher(
  config: Pick<Config, 'PASSWORD_HASH_QUEUE_MAX' | 'UV_THREADPOOL_SIZE'>,
  registry: Registry,
): PasswordHasher {
  const hashes = new Counter({
    name: 'tollgate_password_hashes_total',
    help: 'Password hashes computed, by operation: hash (a new password) or verification',
    labelNames: ['operation'],
    registers: [registry],
  });
  return createPasswordHasher({
    queueMax: config.PASSWORD_HASH_QUEUE_MAX,
    width: hashWidth({ cores: availableParallelism(), threads: config.UV_THREADPOOL_SIZE }),
    onDone: (operation) => {
      hashes.inc({ operation });
    },
  });
}
