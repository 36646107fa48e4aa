import { z } from 'zod';
import { anyone, operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';

/** Base URLs without a trailing slash; null for the address of the web interface itself. */
export type PublicAddresses = { streamingUrl: string | null; authUrl: string | null };

/** For the explorer and code samples. */
export const publicAddresses = {
  title: 'Addresses',
  description: 'Where the endpoints are.',
  operations: [
    operation('GET /api/console/addresses', {
      operationId: 'getAddresses',
      summary: 'Get the addresses of the endpoints',
      caller: anyone,
      answers: {
        200: {
          description: 'The addresses.',
          schema: z.object({
            streaming_url: z.string().nullable().meta({
              description: 'Base URL of the data endpoint (`/graphql`); null if it is that of this API.',
            }),
            auth_url: z.string().nullable().meta({
              description:
                'Base URL of the token endpoint (`/oauth2/token`); null if it is that of this API.',
            }),
          }),
          example: { streaming_url: 'https://data.example.com', auth_url: null },
        },
      },
      handle: ({ addresses }: { addresses: PublicAddresses }) => ({
        streaming_url: addresses.streamingUrl,
        auth_url: addresses.authUrl,
      }),
    }),
  ],
} satisfies Chapter;
