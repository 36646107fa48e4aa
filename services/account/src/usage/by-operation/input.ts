import { z } from 'zod';
import { idQueryField } from '../../http/input/fields.ts';
import { fromField, toField } from '../../http/input/time-range.ts';

export const operationUsageSchema = z.strictObject({
  from: fromField('Start of the range. Default: 30 days before its end.'),
  to: toField('End of the range, exclusive; a date includes its whole day. Default: now.'),
  view: z
    .enum(['billed', 'own'], 'must be billed or own')
    .optional()
    .meta({
      description:
        '`billed`: all usage charged to your billing periods. `own`: your usage, no matter which account pays for it. ' +
        'Default: `own` for members of a team, and `billed` otherwise.',
    }),
  application_id: idQueryField.optional(),
  format: z.enum(['json', 'csv'], 'must be json or csv').optional(),
});

export type OperationUsageInput = z.output<typeof operationUsageSchema>;
