import type { components } from '../../api/schema.d.ts';
import type { BudgetFigures } from '../form/budget-fields.tsx';
import { formatNumber, formatShare } from '../format.ts';
import page from '../page/page.module.css';

type Spent = components['schemas']['MemberBudget']['spent'];

/** What was spent today and in this billing period, against a budget. */
export function BudgetSpent({ budget, spent }: { budget: BudgetFigures; spent: Spent }) {
  return (
    <dl className={page['facts']}>
      <dt>Spent today (UTC)</dt>
      <dd>
        <OfLimit points={spent.points_today} limit={budget.points_per_day} />
      </dd>
      <dt>Spent this billing period</dt>
      <dd>
        {spent.points_in_period === null ? (
          'No billing period'
        ) : (
          <OfLimit points={spent.points_in_period} limit={budget.points_per_period} />
        )}
      </dd>
    </dl>
  );
}

/** The bar only repeats the figures. */
function OfLimit({ points, limit }: { points: number; limit: number | null }) {
  if (limit === null) return `${formatNumber(points)} points, no limit`;
  const share = limit === 0 ? 1 : points / limit;
  return (
    <>
      {formatNumber(points)} of {formatNumber(limit)} points ({formatShare(share)})
      <span className={page['bar']} aria-hidden="true">
        <span
          className={page['fill']}
          data-reached={share >= 1}
          style={{ width: `${String(Math.min(share, 1) * 100)}%` }}
        />
      </span>
    </>
  );
}
