import { invalidFields } from '@tollgate/http/invalid-fields';
import { Problem } from '@tollgate/http/problem';
import { findAccount } from '../../identity/accounts/account-store.ts';
import { factorsOf } from '../../identity/sessions/factors.ts';
import type { SignedIn } from '../../identity/sessions/require-session.ts';
import { enqueueMail } from '../../mail/mail-outbox.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import type { SealingKey } from '../../platform/sealing/sealing.ts';
import { ProviderFault } from '../../oidc/provider-fault.ts';
import { changeOf } from '../../platform/audit/change.ts';
import { auditTeam, lockManagedTeam } from '../changes.ts';
import { managedTeam } from '../domains/changes.ts';
import { endSso } from '../sso-ends.ts';
import { lockTeams, managerOf } from '../store.ts';
import type { Team } from '../store.ts';
import { checkProvider } from './discovery.ts';
import type { RelyingParties } from './relying-parties.ts';
import type { SsoMail } from './sso-mails.ts';
import {
  clientSecretOf,
  deleteProvider,
  endOtherSessions,
  findProvider,
  listCovered,
  setRequired,
  storeProvider,
} from './store.ts';
import type { SealedProvider } from './store.ts';

type ProviderInput = { issuer: string; client_id: string; client_secret?: string | undefined };

type Needs = {
  query: Query;
  transact: Transact;
  sealingKeys: readonly SealingKey[];
  relyingParties: RelyingParties;
};

/**
 * The provider is asked before the transaction: a typing error is told at once. Without a secret, the stored one stays,
 * for the issuer that it is for.
 * @throws {Problem} not_found, forbidden; invalid_request; sso_enforced
 */
export async function setProvider(needs: Needs, by: SignedIn, input: ProviderInput): Promise<SealedProvider> {
  const { query, transact, sealingKeys: keys } = needs;
  const { issuer, client_id } = input;
  await managedTeam(query, by);
  await checkProvider(needs.relyingParties, issuer);
  return transact(async (inside) => {
    const team = await lockManagedTeam(inside, by);
    const { team_id } = team;
    const before = await findProvider(inside, team_id);
    const isSame = before?.issuer === issuer && before.client_id === client_id;
    // People who are let in by nothing else would be locked out by a typing error.
    if (before !== undefined && !isSame && before.required_at !== null) throw required();
    const secret =
      input.client_secret ?? (before?.issuer === issuer ? clientSecretOf(before, keys) : undefined);
    if (secret === undefined) {
      throw invalidFields([{ field: 'client_secret', message: 'must be given for a new issuer' }]);
    }
    await storeProvider(inside, { team_id, issuer, client_id, secret, keys });
    // Another provider doesn't speak for those whom the former has signed in.
    if (before !== undefined && !isSame) await endSso(inside, team_id, null);
    await auditTeam(inside, by, team, 'team_sso_set', {
      issuer,
      client_id,
      ...(before === undefined ? {} : { issuer_before: before.issuer, client_id_before: before.client_id }),
      secret_changed: input.client_secret !== undefined,
    });
    return found(await findProvider(inside, team_id));
  });
}

/** Ends what it has begun; those who have no password get a link. @throws {Problem} not_found, forbidden */
export async function removeProvider(inside: Query, by: SignedIn): Promise<void> {
  const team = await lockManagedTeam(inside, by);
  const { issuer } = found(await findProvider(inside, team.team_id));
  await deleteProvider(inside, team.team_id);
  await endSso(inside, team.team_id, null);
  await auditTeam(inside, by, team, 'team_sso_removed', { issuer });
}

/**
 * Only by a manager who has shown within minutes that it works, and whom a second factor protects from then on, since
 * the manager is let in without it.
 * @throws {Problem} not_found, forbidden; sso_session_required; sso_needs_second_factor
 */
export async function requireSso(inside: Query, by: SignedIn): Promise<void> {
  const team = await lockManagedTeam(inside, by);
  const { team_id } = team;
  const { issuer, required_at } = found(await findProvider(inside, team_id));
  if (required_at !== null) return;
  if (!isFreshlySignedInBySso(by)) {
    throw new Problem('sso_session_required', {
      detail: 'Sign in by single sign-on, then require it within 15 minutes.',
    });
  }
  if ((await factorsOf(inside, by.account_id)).length === 0) {
    throw new Problem('sso_needs_second_factor', {
      detail:
        'Set up an authenticator app or a passkey first: as the manager, you can always sign in without single sign-on.',
    });
  }
  await setRequired(inside, team_id, true);
  await endOtherSessions(inside, team_id);
  await auditTeam(inside, by, team, 'team_sso_required', { issuer });
  for (const { account_id, email } of await listCovered(inside, team_id)) {
    const mail: SsoMail = { kind: 'team_sso_required', recipient: email, account_id };
    await enqueueMail(inside, mail);
  }
}

const FRESH_MS = 900_000;

export function isFreshlySignedInBySso({ session }: Pick<SignedIn, 'session'>): boolean {
  return session.sso_identity_id !== null && session.created_at.getTime() > Date.now() - FRESH_MS;
}

/** Members can sign in both ways again. @throws {Problem} not_found, forbidden */
export async function stopRequiringSso(inside: Query, by: SignedIn): Promise<void> {
  await stopFor(inside, by, await lockManagedTeam(inside, by));
}

/** By an operator, for a team that can't get in; its manager is told. @throws {Problem} not_found */
export async function liftRequiredSso(inside: Query, teamId: number, actor: Actor): Promise<void> {
  const [team] = await lockTeams(inside, [teamId]);
  if (team === undefined) throw new Problem('not_found');
  const account_id = await managerOf(inside, teamId);
  if (!(await stopFor(inside, { account_id, actor }, team))) return;
  const manager = await findAccount(inside, account_id);
  if (manager === undefined) return;
  const mail: SsoMail = { kind: 'team_sso_lifted', recipient: manager.email, account_id };
  await enqueueMail(inside, mail);
}

async function stopFor(
  inside: Query,
  by: { account_id: number; actor: Actor },
  team: Team,
): Promise<boolean> {
  const { issuer, required_at } = found(await findProvider(inside, team.team_id));
  if (required_at === null) return false;
  await setRequired(inside, team.team_id, false);
  const change = changeOf(['required_at'], { required_at }, { required_at: null });
  await auditTeam(inside, by, team, 'team_sso_lifted', { issuer }, change);
  return true;
}

export function found(provider: SealedProvider | undefined): SealedProvider {
  if (provider !== undefined) return provider;
  throw new Problem('not_found', { detail: 'The team has no identity provider.' });
}

function required(): Problem {
  return new Problem('sso_enforced', {
    detail: 'Members sign in only by this identity provider. Stop requiring single sign-on first.',
  });
}

/** Of a request to the provider, for the person who waits for it. @throws {Problem} */
export function refuseFault(error: unknown): never {
  if (!(error instanceof ProviderFault)) throw error;
  if (error.isUnavailable) {
    throw new Problem('identity_provider_unavailable', {
      detail: 'The identity provider of your team does not answer. Try again later.',
      headers: { 'retry-after': '60' },
      cause: error,
    });
  }
  const said = error.said === undefined ? '' : ` It says ${error.said}.`;
  throw new Problem('sso_sign_in_failed', {
    detail: `The answer of the identity provider was not accepted.${said} Sign in again.`,
    cause: error,
  });
}
