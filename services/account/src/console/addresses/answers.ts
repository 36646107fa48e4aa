import { z } from 'zod';

export const addressesSchema = z.object({
  streaming_url: z.string().nullable().meta({
    description: 'Base URL of the data endpoint (`/graphql`); null if it is that of this API.',
  }),
  auth_url: z.string().nullable().meta({
    description: 'Base URL of the token endpoint (`/oauth2/token`); null if it is that of this API.',
  }),
});
