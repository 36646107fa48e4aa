import { LRUCache } from 'lru-cache';
import { fetch as guardedFetch } from 'undici';
import type { Agent, RequestInit as GuardedInit } from 'undici';
import { createRelyingParty } from '../../oidc/relying-party.ts';
import type { RelyingParty } from '../../oidc/relying-party.ts';
import type { SealingKey } from '../../platform/sealing/sealing.ts';
import { addressFault } from './settings.ts';
import { clientSecretOf } from './store.ts';
import type { SealedProvider } from './store.ts';

/** What identity providers send is at most a few kilobytes. */
const MAX_ANSWER_BYTES = 65_536;

/** Each keeps what it has read of its provider for an hour. */
const KEPT_MAX = 1_000;

export type RelyingParties = {
  /** The settings that are stored now. */
  of: (provider: SealedProvider) => RelyingParty;
  /** One that isn't stored, and only asked what it says of itself. */
  tried: (issuer: string) => RelyingParty;
  /** Where the team's provider leads back to: one address per team, so that no answer is taken for another team's. */
  redirectUriOf: (teamId: number) => string;
  /** Why an address of an identity provider isn't asked. */
  addressFault: (url: string) => string | undefined;
};

/** The customer's server is asked under the rules of webhooks: checked addresses, no redirects, short answers. */
export function createRelyingParties({
  publicUrl,
  allowedHosts,
  sealingKeys,
  agent,
}: {
  publicUrl: string;
  allowedHosts: ReadonlySet<string>;
  sealingKeys: readonly SealingKey[];
  agent: Agent;
}): RelyingParties {
  const kept = new LRUCache<string, RelyingParty>({ max: KEPT_MAX });
  const redirectUriOf = (teamId: number) => `${publicUrl}/user/sso/${String(teamId)}`;
  const faultOf = (url: string) => addressFault(url, allowedHosts);

  /** Also of what the provider says of itself: its keys can be at another host. */
  async function fetch(url: string, init: RequestInit): Promise<Response> {
    const fault = faultOf(url);
    if (fault !== undefined) throw new TypeError(`an address of the identity provider ${fault}`);
    const request = { ...init, redirect: 'manual', dispatcher: agent } as GuardedInit;
    return guardedFetch(url, request);
  }

  const options = { fetch, maxAnswerBytes: MAX_ANSWER_BYTES };
  return {
    redirectUriOf,
    addressFault: faultOf,
    tried: (issuer) =>
      createRelyingParty({ issuer, clientId: '-', clientSecret: '-', redirectUri: '' }, options),
    of: (provider) => {
      const key = `${String(provider.provider_id)} ${String(provider.version)}`;
      const known = kept.get(key);
      if (known !== undefined) return known;
      const party = createRelyingParty(
        {
          issuer: provider.issuer,
          clientId: provider.client_id,
          clientSecret: clientSecretOf(provider, sealingKeys),
          redirectUri: redirectUriOf(provider.team_id),
        },
        options,
      );
      kept.set(key, party);
      return party;
    },
  };
}
