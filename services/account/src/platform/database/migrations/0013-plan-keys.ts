import type { Knex } from 'knex';

/** What files name products, plans and packs by (docs/design/billing.md). */
export async function up(knex: Knex): Promise<void> {
  await knex.schema.raw(/* sql */ `
    CREATE FUNCTION key_of_name(name text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
      SELECT coalesce(
        nullif(trim(BOTH '-' FROM left(trim(BOTH '-' FROM regexp_replace(lower(name), '[^a-z0-9]+', '-', 'g')), 40)), ''),
        'unnamed')
    $$;

    ALTER TABLE products
      ADD COLUMN key text CHECK (key ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND char_length(key) <= 60),
      ADD COLUMN managed boolean NOT NULL DEFAULT false;
    ALTER TABLE plans
      ADD COLUMN key text CHECK (key ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND char_length(key) <= 60),
      ADD COLUMN managed boolean NOT NULL DEFAULT false;
    ALTER TABLE packs
      ADD COLUMN key text CHECK (key ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND char_length(key) <= 60),
      ADD COLUMN managed boolean NOT NULL DEFAULT false;
    CREATE UNIQUE INDEX products_key_idx ON products (key);
    CREATE UNIQUE INDEX plans_key_idx ON plans (key);
    -- A pack is never edited: another one takes its key.
    CREATE UNIQUE INDEX packs_key_idx ON packs (key) WHERE withdrawn_at IS NULL;

    -- A new row that states no key gets the one of its name, with its id if that is taken. The arguments are the column
    -- of the id, and which rows count.
    CREATE FUNCTION set_key() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      is_taken boolean;
    BEGIN
      -- Two at a time would both find it free.
      PERFORM pg_advisory_xact_lock(hashtextextended(TG_TABLE_NAME || '-keys', 0));
      NEW.key := key_of_name(NEW.name);
      LOOP
        EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I WHERE key = $1 AND %s)', TG_TABLE_NAME, TG_ARGV[1])
          INTO is_taken USING NEW.key;
        EXIT WHEN NOT is_taken;
        NEW.key := NEW.key || '-' || (to_jsonb(NEW) ->> TG_ARGV[0]);
      END LOOP;
      RETURN NEW;
    END $$;
    CREATE TRIGGER products_key BEFORE INSERT ON products
      FOR EACH ROW WHEN (NEW.key IS NULL) EXECUTE FUNCTION set_key('product_id', 'true');
    CREATE TRIGGER plans_key BEFORE INSERT ON plans
      FOR EACH ROW WHEN (NEW.key IS NULL) EXECUTE FUNCTION set_key('plan_id', 'true');
    CREATE TRIGGER packs_key BEFORE INSERT ON packs
      FOR EACH ROW WHEN (NEW.key IS NULL) EXECUTE FUNCTION set_key('pack_id', 'withdrawn_at IS NULL');

    UPDATE products SET key = CASE WHEN number = 1 THEN named.key ELSE named.key || '-' || named.product_id END
      FROM (SELECT product_id, key_of_name(name) AS key,
              row_number() OVER (PARTITION BY key_of_name(name) ORDER BY product_id) AS number FROM products) named
      WHERE products.product_id = named.product_id;
    UPDATE plans SET key = CASE WHEN number = 1 THEN named.key ELSE named.key || '-' || named.plan_id END
      FROM (SELECT plan_id, key_of_name(name) AS key,
              row_number() OVER (PARTITION BY key_of_name(name) ORDER BY plan_id) AS number FROM plans) named
      WHERE plans.plan_id = named.plan_id;
    UPDATE packs SET key = CASE WHEN number = 1 THEN named.key ELSE named.key || '-' || named.pack_id END
      FROM (SELECT pack_id, key_of_name(name) AS key,
              row_number() OVER (PARTITION BY key_of_name(name)
                ORDER BY withdrawn_at IS NOT NULL, pack_id) AS number FROM packs) named
      WHERE packs.pack_id = named.pack_id;
  `);
}

const FILLED_IN = 'it is of a new column, which a trigger fills in for the version before';

export const exceptions = {
  'packs_key_check is a rule, or an index, that packs did not have': FILLED_IN,
  'packs_key_idx is a rule, or an index, that packs did not have': FILLED_IN,
  'plans_key_check is a rule, or an index, that plans did not have': FILLED_IN,
  'plans_key_idx is a rule, or an index, that plans did not have': FILLED_IN,
  'products_key_check is a rule, or an index, that products did not have': FILLED_IN,
  'products_key_idx is a rule, or an index, that products did not have': FILLED_IN,
};
