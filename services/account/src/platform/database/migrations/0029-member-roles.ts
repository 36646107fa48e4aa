import type { Knex } from 'knex';

/** What a member of a team may do beside calling the API (docs/design/billing.md). The manager's row has the default. */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    ALTER TABLE team_members ADD COLUMN member_role text NOT NULL DEFAULT 'developer'
      CHECK (member_role IN ('billing', 'developer', 'viewer'));
    ALTER TABLE team_invitations ADD COLUMN member_role text NOT NULL DEFAULT 'developer'
      CHECK (member_role IN ('billing', 'developer', 'viewer'));
  `);
}

const UNWRITTEN = 'the version before leaves the column at its default';

export const exceptions = {
  'team_invitations_member_role_check is a rule, or an index, that team_invitations did not have': UNWRITTEN,
  'team_members_member_role_check is a rule, or an index, that team_members did not have': UNWRITTEN,
};
