import { z } from 'zod';

const personSchema = z.strictObject({
  email: z.email().max(254),
  name: z.string().min(1).max(200),
  password: z.string().min(8).max(1024),
  application: z.strictObject({
    name: z.string().min(1).max(200),
    client_id: z.uuid(),
    client_secret: z.string().min(16).max(256),
  }),
});

/** The seed's input: a team's manager and its one member, each with an application. */
export const seedInputSchema = z.strictObject({ manager: personSchema, member: personSchema });

export type SeedInput = z.output<typeof seedInputSchema>;
export type SeedPerson = z.output<typeof personSchema>;

/** Printed to stdout. */
export type SeedResult = {
  account_id: number;
  application_id: number;
  member: { account_id: number; application_id: number };
};
