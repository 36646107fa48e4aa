import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { temporaryTokenQuery } from '../../api/temporary-token.ts';
import type { TokenSource } from './calls/requests.ts';
import { activeTokensQuery } from './queries.ts';

const TEMPORARY = '';

type ManualToken = { application_id: number; token_id: number };

/** A manually created token, only in memory as the temporary one: copying is recorded, so it isn't done per call. */
const copiedTokenQuery = ({ application_id, token_id }: ManualToken) =>
  queryOptions({
    queryKey: ['copied-token', token_id],
    queryFn: ({ signal }) =>
      resultOf(
        api.POST('/api/console/applications/{application_id}/tokens/{token_id}/copy', {
          signal,
          params: { path: { application_id, token_id } },
        }),
      ),
    staleTime: Infinity,
  });

/** The token that calls are made with: the temporary one, or a manually created one of an application. */
export function useToken() {
  const queryClient = useQueryClient();
  const { data: tokens = [] } = useQuery(activeTokensQuery);
  const [chosen, setChosen] = useState(TEMPORARY);
  const token = useMemo<TokenSource>(() => {
    const manual = tokens.find(({ token_id }) => String(token_id) === chosen);
    const read = async (renew: boolean) => {
      const fresh = renew ? { staleTime: 0 } : {};
      const { access_token } = await (manual === undefined
        ? queryClient.query({ ...temporaryTokenQuery, ...fresh })
        : queryClient.query({ ...copiedTokenQuery(manual), ...fresh }));
      return access_token;
    };
    return { id: chosen, read };
  }, [chosen, tokens, queryClient]);
  const options = [
    { value: TEMPORARY, label: 'Temporary token' },
    ...tokens.map(({ token_id, name, application_name }) => ({
      value: String(token_id),
      label: `${application_name}: ${name}`,
    })),
  ];
  return { token, options, chosen, setChosen };
}
