import { QueryClient } from '@tanstack/react-query';
import { ApiError } from './api/client.ts';

const MAX_RETRIES = 2;

/** Pages render from this cache and refresh in the background. Refusals are not retried; failures are, twice. */
export const createQueryClient = () =>
  new QueryClient({
    defaultOptions: {
      queries: {
        retry: (failures, error) => {
          const status = error instanceof ApiError ? error.problem?.status : undefined;
          return failures < MAX_RETRIES && (status === undefined || status >= 500);
        },
      },
    },
  });

export const queryClient = createQueryClient();
