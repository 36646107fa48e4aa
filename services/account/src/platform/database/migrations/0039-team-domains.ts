import type { Knex } from 'knex';

/** Email domains that teams have proven, or want to (docs/design/identity.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    CREATE TABLE team_domains (
      domain_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      team_id bigint NOT NULL REFERENCES teams ON DELETE CASCADE,
      -- In lower case, with A-labels.
      domain text NOT NULL CHECK (char_length(domain) BETWEEN 3 AND 253 AND domain = lower(domain)),
      -- 128 bits in hexadecimal, which the record has to show.
      challenge text NOT NULL CHECK (challenge ~ '^[0-9a-f]{32}$'),
      created_at timestamptz NOT NULL DEFAULT now(),
      -- When DNS was last asked, whatever it answered.
      asked_at timestamptz NOT NULL DEFAULT '-infinity',
      proven_at timestamptz,
      -- Since when each answer has lacked the record; null while it is there.
      missing_since timestamptz CHECK (missing_since IS NULL OR proven_at IS NOT NULL),
      -- When the manager was mailed about that.
      warned_at timestamptz,
      UNIQUE (team_id, domain)
    );
    -- A domain belongs to one team at a time.
    CREATE UNIQUE INDEX team_domains_proven_key ON team_domains (domain) WHERE proven_at IS NOT NULL;
    CREATE INDEX team_domains_asked_at_idx ON team_domains (asked_at) WHERE proven_at IS NOT NULL;
  `);
}
