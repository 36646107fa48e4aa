import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const SOURCE = join(import.meta.dirname, '../..');

/** Everything else reads a period's limit with what credits add to it, by `enforcedLimits` or `reportedLimits`. */
const PLANS_POINTS = [
  // What a plan states.
  'billing/plans/input.ts',
  'billing/periods/limits.ts',
  'billing/plans/operations.ts',
  'plans-as-code/operations.ts',
  'programs/seed/seed-history.ts',
  // The most that grants and a plan may be together.
  'billing/credits/store.ts',
  'platform/database/migrations/0001-schema/alert-checks.ts',
  'platform/database/migrations/0002-credits/alerts.ts',
  'platform/database/migrations/0002-credits/closings.ts',
  // Of accounts without grants, which credits add nothing to.
  'platform/database/migrations/0079-quick-alert-checks.ts',
  // Whether more is used than it includes.
  'platform/database/migrations/0002-credits/notices.ts',
];

test("nothing shows the points of a period's plan without those that credits add", () => {
  const files = globSync('**/*.ts', { cwd: SOURCE }).filter((file) => !file.endsWith('.test.ts'));
  const readers = files.filter((file) =>
    /description\b.{0,25}points_limit\b|includedPoints\(/.test(readFileSync(join(SOURCE, file), 'utf8')),
  );
  const settling = ['billing/credits/answer.ts', 'closing/store.ts'];
  // Beside the limit, as the part of it that the plan has.
  const parts = ['self-service/view.ts'];
  expect(readers.toSorted()).toEqual([...PLANS_POINTS, ...settling, ...parts].toSorted());
});
