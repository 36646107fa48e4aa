import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { temporaryTokenQuery } from '../../api/temporary-token.ts';
import type { TokenSource } from './calls/post.ts';
import { activeTokensQuery } from './queries.ts';

const TEMPORARY = '';

/** The token that calls are made with: the temporary one, or a manually created one of an application. */
export function useToken() {
  const queryClient = useQueryClient();
  const { data: tokens = [] } = useQuery(activeTokensQuery);
  const [chosen, setChosen] = useState(TEMPORARY);
  const token = useMemo<TokenSource>(() => {
    const manual = tokens.find(({ token_id }) => String(token_id) === chosen);
    if (manual !== undefined) {
      const { application_id, token_id } = manual;
      const path = { application_id, token_id };
      return async () =>
        (
          await resultOf(
            api.POST('/api/console/applications/{application_id}/tokens/{token_id}/copy', {
              params: { path },
            }),
          )
        ).access_token;
    }
    return async (renew) => {
      const query = renew ? { ...temporaryTokenQuery, staleTime: 0 } : temporaryTokenQuery;
      return (await queryClient.query(query)).access_token;
    };
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
