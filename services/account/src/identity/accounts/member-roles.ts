import { z } from 'zod';

/**
 * What a member may do in a team beside what every member may. `billing` acts for the manager's account where its plan,
 * its payments and its usage are concerned; `viewer` creates no credentials.
 */
const MEMBER_ROLES = ['billing', 'developer', 'viewer'] as const;

export type MemberRole = (typeof MEMBER_ROLES)[number];

export const DEFAULT_MEMBER_ROLE: MemberRole = 'developer';

export const memberRoleSchema = z.enum(MEMBER_ROLES, 'must be billing, developer or viewer').meta({
  description:
    '`developer`: creates applications and tokens. `billing`: also sees usage, and manages plan, payments and invoices ' +
    'of the manager’s account. `viewer`: creates no applications and tokens; existing ones keep working.',
});
