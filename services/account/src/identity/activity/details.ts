import { z } from 'zod';

/** Only what the owner knows or typed; everything else in an entry's details is for operators. Never a secret. */
export const activityDetailsSchema = z
  .object({
    name: z.string().optional(),
    name_before: z.string().optional(),
    type: z.string().optional(),
    client_id: z.string().optional(),
    token_lifespan_sec: z.number().optional(),
    token_lifespan_sec_before: z.number().optional(),
    email: z.string().optional(),
    email_before: z.string().optional(),
    team_name: z.string().optional(),
    billing_interval: z.string().optional(),
    team_slots_limit: z.number().optional(),
    points: z.number().optional(),
    expires_at: z.string().optional(),
    webhook_id: z.number().optional(),
    reason: z.string().optional(),
  })
  .meta({ description: 'What changed, depending on `action`.', examples: [{ name: 'ETL' }] });

type ActivityDetails = z.output<typeof activityDetailsSchema>;

export function shownDetails(details: Readonly<Record<string, unknown>>): ActivityDetails {
  const shown = Object.entries(activityDetailsSchema.shape).filter(
    ([name, field]) => name in details && field.safeParse(details[name]).success,
  );
  return Object.fromEntries(shown.map(([name]) => [name, details[name]]));
}
