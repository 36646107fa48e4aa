import type { Knex } from 'knex';

const COUNTERS = ['points', 'requests', 'time_ms', 'traffic_bytes'];

/** 2^53 - 1, MAX_TOTAL of the contract: a larger number can't be stated in JSON. */
const MAX_TOTAL = '9007199254740991';

/** No total is beyond what can be stated. One that is already becomes the greatest that can. */
export async function up(knex: Knex): Promise<void> {
  const isWithin = COUNTERS.map((counter) => `${counter} <= ${MAX_TOTAL}`).join(' AND ');
  await knex.schema.raw(`
    ALTER TABLE usage_totals ADD CONSTRAINT usage_totals_within CHECK (${isWithin}) NOT VALID;
    UPDATE usage_totals
      SET ${COUNTERS.map((counter) => `${counter} = least(${counter}, ${MAX_TOTAL})`).join(', ')}
      WHERE NOT (${isWithin});
    ALTER TABLE usage_totals VALIDATE CONSTRAINT usage_totals_within;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw('ALTER TABLE usage_totals DROP CONSTRAINT usage_totals_within');
}

/** What expand-and-contract.test.ts finds here, and why it does no harm to the version before (ADR 0035). */
export const exceptions = {
  'usage_totals_within is a rule, or an index, that usage_totals did not have':
    'the version before fails on such a total whenever it reads it; its usage reader sets aside what is refused',
};
