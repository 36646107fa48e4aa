import { z } from 'zod';
import { idField } from '../../http/input/fields.ts';

const MAX_ISSUER_LENGTH = 1_024;
const MAX_CLIENT_ID_LENGTH = 500;
const MAX_SECRET_LENGTH = 2_000;

/** Longer than what providers send. */
const MAX_PARAMETERS_LENGTH = 8_192;

const text = (max: number) =>
  z
    .string('must be text')
    .min(1, 'must not be empty')
    .max(max, `must have at most ${String(max)} characters`)
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces');

export const providerSchema = z.strictObject({
  issuer: text(MAX_ISSUER_LENGTH).meta({
    description: 'As the provider writes it, such as `https://login.example.com`.',
  }),
  client_id: text(MAX_CLIENT_ID_LENGTH),
  client_secret: text(MAX_SECRET_LENGTH)
    .optional()
    .meta({ description: 'Without it, the secret stays that was given for the same issuer.' }),
});

export const ssoAnswerSchema = z.strictObject({
  team_id: idField.meta({ description: 'Of the address that the provider has led to.' }),
  parameters: z
    .string('must be text')
    .max(MAX_PARAMETERS_LENGTH, `must have at most ${String(MAX_PARAMETERS_LENGTH)} characters`)
    .meta({ description: 'The query of that address, without the `?`.' }),
});
