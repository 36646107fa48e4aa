import type { ApiChapter } from '../../http/operation.ts';
import { addressesSchema } from './answers.ts';

export const addressesApi: ApiChapter = {
  title: 'Addresses',
  description: 'Where the endpoints are.',
  operations: {
    'GET /api/console/addresses': {
      operationId: 'getAddresses',
      summary: 'Get the addresses of the endpoints',
      caller: 'anyone',
      answers: {
        200: {
          description: 'The addresses.',
          schema: addressesSchema,
          example: { streaming_url: 'https://data.example.com', auth_url: null },
        },
      },
    },
  },
};
