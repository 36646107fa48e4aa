import { z } from 'zod';
import { MAX_TOTAL } from '@tollgate/contracts/usage-stream';
import { idField, secondField } from '../../http/input/fields.ts';
import { noteSchema } from '../../http/input/name.ts';

/** Those that an operator may give. Carry-over is made by the closing of a period. */
const grantedSource = z.enum(
  ['purchase', 'promotion', 'compensation'],
  'must be purchase, promotion or compensation',
);

const MAX_PRIORITY = 100;

export const newCreditSchema = z.strictObject(
  {
    account_id: idField,
    points: z
      .int('must be a whole number')
      .min(1, 'must be at least 1')
      .max(MAX_TOTAL, `must be at most ${String(MAX_TOTAL)}`),
    source: grantedSource,
    priority: z
      .int('must be a whole number')
      .min(0, 'must be at least 0')
      .max(MAX_PRIORITY, `must be at most ${String(MAX_PRIORITY)}`)
      .default(50)
      .meta({ description: 'Grants with a lower number are used first.' }),
    effective_at: secondField
      .nullable()
      .default(null)
      .meta({ description: 'From when the points can be used; null for now.' }),
    expires_at: secondField.nullable().default(null).meta({
      description: 'The points can be used until just before this second; null if the points never expire.',
    }),
    note: noteSchema.nullable().default(null).meta({ description: 'Visible to the account.' }),
  },
  'must be a JSON object',
);
