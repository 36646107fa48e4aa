import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, nullIf, resultOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';

export type TeamOfManager = components['schemas']['TeamOfManager'];
type TeamOfMember = components['schemas']['TeamOfMember'];
export type Team = TeamOfManager | TeamOfMember;
export type Member = Team['members'][number];
export type SentInvitation = components['schemas']['SentInvitation'];
export type ManagedBudget = components['schemas']['ManagedMemberBudget'];
export type TeamDomain = components['schemas']['TeamDomain'];
export type TeamSso = components['schemas']['TeamSso'];
export type Provisioning = components['schemas']['Provisioning'];
export type TeamConnection = components['schemas']['TeamConnection'];
export type ReceivedInvitation = components['schemas']['ReceivedInvitation'];

/** The team as its manager or a member sees it; null for an account without one. */
export const teamQuery = queryOptions({
  queryKey: ['team'],
  queryFn: ({ signal }): Promise<Team | null> =>
    nullIf(404, resultOf(api.GET('/api/console/team', { signal }))),
});

/** A member's budget and those of their applications, for the manager. */
export function memberBudgetQuery(account_id: number) {
  return queryOptions({
    queryKey: ['team', 'budget', account_id],
    queryFn: ({ signal }) =>
      resultOf(
        api.GET('/api/console/team/members/{account_id}/budget', {
          signal,
          params: { path: { account_id } },
        }),
      ),
    // The form begins with what is loaded: nothing older may be shown.
    gcTime: 0,
  });
}

export const domainsQuery = queryOptions({
  queryKey: ['team', 'domains'],
  queryFn: async ({ signal }) => (await resultOf(api.GET('/api/console/team/domains', { signal }))).domains,
});

export const ssoQuery = queryOptions({
  queryKey: ['team', 'sso'],
  queryFn: ({ signal }) => resultOf(api.GET('/api/console/team/sso', { signal })),
});

export const teamConnectionsQuery = infiniteQueryOptions({
  queryKey: ['team', 'connections'],
  queryFn: ({ signal, pageParam }) => {
    const query = { limit: 50, ...(pageParam === null ? {} : { cursor: pageParam }) };
    return resultOf(api.GET('/api/console/team/connections', { signal, params: { query } }));
  },
  initialPageParam: null as string | null,
  getNextPageParam: ({ next_cursor }) => next_cursor,
});

export const provisioningQuery = queryOptions({
  queryKey: ['team', 'provisioning'],
  queryFn: ({ signal }) => resultOf(api.GET('/api/console/team/provisioning', { signal })),
});

export const receivedInvitationsQuery = queryOptions({
  queryKey: ['invitations'],
  queryFn: async ({ signal }) =>
    (await resultOf(api.GET('/api/console/invitations', { signal }))).invitations,
});

/** Sends an invitation by email. */
export function invite(email: string, member_role: SentInvitation['member_role']) {
  return resultOf(api.POST('/api/console/team/invitations', { body: { email, member_role } }));
}
