import { z } from 'zod';
import { id, instant, nextCursor } from '../../http/answer-fields.ts';
import { activityDetailsSchema } from './details.ts';
import { ACTIVITY_KINDS, OWN_ACTIONS } from './kinds.ts';

const entrySchema = z
  .object({
    activity_id: id,
    at: instant,
    action: z.enum(OWN_ACTIONS),
    kind: z.enum(ACTIVITY_KINDS),
    by: z.enum(['you', 'member', 'operator', 'application', 'system', 'unknown']).meta({
      description:
        'Who did it: `you`, a `member` of your team, an `operator` of this service, an `application` with its client credentials, the `system`, or `unknown` if the caller was not signed in.',
    }),
    member_name: z.string().nullable().meta({ description: 'Null unless `by` is `member`.' }),
    address: z
      .string()
      .nullable()
      .meta({ description: 'The IP address of the request, if it came from outside.' }),
    request_id: z.string().nullable(),
    application: z.object({ application_id: id, name: z.string() }).nullable(),
    details: activityDetailsSchema,
  })
  .meta({ id: 'Activity' });

export const activityAnswerSchema = z.object({ activity: z.array(entrySchema), next_cursor: nextCursor });
