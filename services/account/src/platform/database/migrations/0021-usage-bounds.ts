import type { Knex } from 'knex';

/**
 * No total grows beyond 2^53 - 1, MAX_TOTAL of the contract: a larger number can't be stated in JSON. Rows that are
 * beyond it already stay until they are rebuilt: to look through the table would hold up everyone who counts.
 */
export async function up(knex: Knex): Promise<void> {
  const isWithin = ['points', 'requests', 'time_ms', 'traffic_bytes']
    .map((counter) => `${counter} <= 9007199254740991`)
    .join(' AND ');
  await knex.schema.raw(
    `ALTER TABLE usage_totals ADD CONSTRAINT usage_totals_within CHECK (${isWithin}) NOT VALID`,
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.schema.raw('ALTER TABLE usage_totals DROP CONSTRAINT usage_totals_within');
}

/** What expand-and-contract.test.ts finds here, and why it does no harm to the version before (ADR 0035). */
export const exceptions = {
  'usage_totals_within is a rule, or an index, that usage_totals did not have':
    'the version before fails on such a total whenever it reads it; its usage reader sets aside what is refused',
};
