import { Problem } from '@tollgate/http/problem';
import { invalidFields } from '@tollgate/http/invalid-fields';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor, AuditEntry } from '../../platform/audit/audit-log.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { isUniqueViolation } from '../../platform/database/query.ts';
import type { Caller } from '../../http/caller-address.ts';
import { lockAccount } from '../accounts/account-store.ts';
import { refuseExceeded } from '../attempts/attempt-counts.ts';
import type { AttemptCounts } from '../attempts/attempt-counts.ts';
import { totpAttempt } from '../attempts/second-step-limits.ts';
import type { SignInLimits } from '../attempts/sign-in-limits.ts';
import type { TwoFactorMail } from './two-factor-mails.ts';
import { endSessions } from '../sessions/end-sessions.ts';
import type { AfterCommit, SessionTokens } from '../sessions/end-sessions.ts';
import type { SignedIn } from '../sessions/require-session.ts';
import { confirmSession } from '../sessions/session-store.ts';
import { factorsOf } from '../sessions/factors.ts';
import { refuseIfLastFactorIsNeeded } from '../sessions/required-sso.ts';
import { passkeyRefused } from './passkeys/input.ts';
import type { Registration } from './passkeys/input.ts';
import { deletePasskey, insertPasskey, listPasskeys } from './passkeys/passkey-store.ts';
import type { ListedPasskey } from './passkeys/passkey-store.ts';
import { verifyRegistration } from './passkeys/registration.ts';
import { deleteRecoveryCodes, renewRecoveryCodes } from './recovery-codes.ts';
import { confirmTotpSecret, deleteTotpSecret, storeTotpSecret } from './totp/totp-store.ts';
import { newTotpSecret, otpauthUrl } from './totp/totp.ts';
import type { SealingKey } from '../../platform/sealing/sealing.ts';
import type { PasskeyNeeds } from './passkeys/assertion.ts';

/** The recovery codes if this was the first factor, else null. They are shown once. */
type NewCodes = { recovery_codes: string[] | null };

type ChangeNeeds = { transact: Transact; wakeMails: () => void };

const MAX_PASSKEYS = 20;

/** A secret that counts once a code has confirmed it. @throws {Problem} totp_enabled */
export async function setUpTotp(
  {
    query,
    sealingKeys,
    productName: issuer,
  }: {
    query: Query;
    sealingKeys: readonly SealingKey[];
    /** As authenticator apps show it. */
    productName: string;
  },
  { account_id, session }: SignedIn,
): Promise<{ secret: string; otpauth_url: string }> {
  const secret = newTotpSecret();
  if (!(await storeTotpSecret(query, account_id, secret, sealingKeys))) throw new Problem('totp_enabled');
  return { secret, otpauth_url: otpauthUrl(secret, { issuer, label: session.account.email }) };
}

/**
 * Enables the authenticator app by its first code, and ends the other sessions. It confirms the session, so that guesses
 * count as those of a sign-in: a stolen session could find the code of a secret that its owner has just been given.
 * @throws {Problem} invalid_request for the code; too_many_requests
 */
export async function confirmTotp(
  needs: ChangeNeeds &
    SessionTokens & { sealingKeys: readonly SealingKey[]; counts: AttemptCounts; signInLimits: SignInLimits },
  signedIn: SignedIn,
  code: string,
  { addressGroup: address }: Caller,
): Promise<NewCodes> {
  const { account_id: accountId, session } = signedIn;
  const { password_hash: passwordHash } = session.account;
  const attempt = totpAttempt(needs.signInLimits, { accountId, passwordHash, address });
  refuseExceeded(await needs.counts.take(attempt));
  const enabled = await changeFactors(needs, signedIn, async (inside) => {
    const use = { accountId, code, nowMs: Date.now(), keys: needs.sealingKeys };
    const had = await factorsOf(inside, accountId);
    if (!(await confirmTotpSecret(inside, use))) {
      throw invalidFields([{ field: 'code', message: 'is wrong or expired' }]);
    }
    const ended = await endOthers(needs, inside, signedIn);
    return { told: 'totp_added', details: {}, ended, result: await firstCodes(inside, accountId, had) };
  });
  await needs.counts.giveBack(attempt);
  return enabled;
}

/** @throws {Problem} not_found; sso_needs_second_factor */
export function removeTotp(needs: ChangeNeeds, signedIn: SignedIn): Promise<void> {
  const { account_id } = signedIn;
  return changeFactors(needs, signedIn, async (inside) => {
    if (!(await deleteTotpSecret(inside, account_id))) throw new Problem('not_found');
    await endCodesWithoutFactor(inside, account_id);
    return { told: 'totp_removed', details: {}, ended: [], result: undefined };
  });
}

/** Ends the other sessions. @throws {Problem} invalid_request for the credential; passkey_limit_reached; passkeys_unavailable */
export async function addPasskey(
  needs: ChangeNeeds & SessionTokens & PasskeyNeeds,
  signedIn: SignedIn,
  { name, credential }: { name: string; credential: Registration },
): Promise<NewCodes & { passkey: ListedPasskey }> {
  const { account_id } = signedIn;
  const verified = await verifyRegistration(needs, credential, account_id);
  try {
    return await changeFactors(needs, signedIn, async (inside) => {
      const had = await factorsOf(inside, account_id);
      if ((await listPasskeys(inside, account_id)).length >= MAX_PASSKEYS) {
        throw new Problem('passkey_limit_reached');
      }
      const passkey = await insertPasskey(inside, { ...verified, name });
      const result = { passkey, ...(await firstCodes(inside, account_id, had)) };
      const ended = await endOthers(needs, inside, signedIn);
      return { told: 'passkey_added', details: { passkey_id: passkey.passkey_id, name }, ended, result };
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw passkeyRefused(error);
    throw error;
  }
}

/** @throws {Problem} not_found; sso_needs_second_factor */
export function removePasskey(needs: ChangeNeeds, signedIn: SignedIn, passkey_id: number): Promise<void> {
  const { account_id } = signedIn;
  return changeFactors(needs, signedIn, async (inside) => {
    const removed = await deletePasskey(inside, account_id, passkey_id);
    if (removed === undefined) throw new Problem('not_found');
    await endCodesWithoutFactor(inside, account_id);
    const details = { passkey_id, name: removed.name };
    return { told: 'passkey_removed', details, ended: [], result: undefined };
  });
}

/** @throws {Problem} two_factor_disabled */
export function renewCodes(needs: ChangeNeeds, signedIn: SignedIn): Promise<{ recovery_codes: string[] }> {
  const { account_id } = signedIn;
  return changeFactors(needs, signedIn, async (inside) => {
    if ((await factorsOf(inside, account_id)).length === 0) throw new Problem('two_factor_disabled');
    const result = { recovery_codes: await renewRecoveryCodes(inside, account_id) };
    return { told: 'recovery_codes_renewed', details: {}, ended: [], result };
  });
}

/** A session that began without the factor doesn't stay, except the one that has just shown it. */
async function endOthers(
  needs: SessionTokens,
  inside: Query,
  { account_id, actor, session }: SignedIn,
): Promise<AfterCommit[]> {
  await confirmSession(inside, session.session_id);
  return endSessions(needs, inside, { account_id, actor, except: session.session_id });
}

async function firstCodes(inside: Query, accountId: number, had: readonly string[]): Promise<NewCodes> {
  return { recovery_codes: had.length > 0 ? null : await renewRecoveryCodes(inside, accountId) };
}

/** Codes of a former set-up must not work after a later one. */
async function endCodesWithoutFactor(inside: Query, accountId: number): Promise<void> {
  if ((await factorsOf(inside, accountId)).length > 0) return;
  await refuseIfLastFactorIsNeeded(inside, accountId);
  await deleteRecoveryCodes(inside, accountId);
}

type Change<T> = {
  told: Extract<AuditEntry['action'], TwoFactorMail['kind']>;
  details: Readonly<Record<string, string | number>>;
  ended: AfterCommit[];
  result: T;
};

/** One change at a time of an account, with its audit record and its mail. */
async function changeFactors<T>(
  { transact, wakeMails }: ChangeNeeds,
  { account_id, actor }: { account_id: number; actor: Actor },
  change: (inside: Query) => Promise<Change<T>>,
): Promise<T> {
  const { result, ended } = await transact(async (inside) => {
    const account = await lockAccount(inside, account_id);
    if (account === undefined) throw new Problem('unauthorized');
    const changed = await change(inside);
    const entry = { ...actor, application_id: null, account_id };
    await recordAudit(inside, { ...entry, action: changed.told, details: changed.details });
    const mail: TwoFactorMail = { kind: changed.told, recipient: account.email, account_id };
    await enqueueMail(inside, mail);
    return changed;
  });
  wakeMails();
  await Promise.all(ended.map((tell) => tell()));
  return result;
}
