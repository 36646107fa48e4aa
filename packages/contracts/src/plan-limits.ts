import { z } from 'zod';

/** Response of `GET /private/plan-limits`: the largest limits of the plans that are offered; null if none has one. */
export const planLimitsSchema = z.object({ subscription_limit: z.int().nullable() });

export type PlanLimits = z.infer<typeof planLimitsSchema>;
