import type { components } from '../../api/schema.d.ts';
import { FieldError } from './field-error.ts';
import { TextField } from './text-field.tsx';

export type BudgetFigures = Pick<
  components['schemas']['MemberBudget'],
  'points_per_period' | 'points_per_day'
>;

type BudgetField = keyof BudgetFigures;

/** @throws {FieldError} for what is no whole number; the API checks the rest */
export function budgetOf(values: Readonly<Record<string, string>>): BudgetFigures {
  return {
    points_per_period: figureOf(values, 'points_per_period'),
    points_per_day: figureOf(values, 'points_per_day'),
  };
}

function figureOf(values: Readonly<Record<string, string>>, field: BudgetField): number | null {
  const text = values[field]?.trim() ?? '';
  if (text === '') return null;
  if (!/^\d{1,16}$/.test(text)) throw new FieldError(field, 'Enter a whole number, or nothing for no limit.');
  return Number(text);
}

/** How many points may be spent in each window. */
export function BudgetFields({
  budget,
  errors,
}: {
  budget: BudgetFigures;
  errors: Readonly<Partial<Record<BudgetField, string | undefined>>>;
}) {
  return (
    <>
      <TextField
        label="Points per billing period"
        name="points_per_period"
        inputMode="numeric"
        autoComplete="off"
        isRequired={false}
        defaultValue={textOf(budget.points_per_period)}
        description="Leave empty for no limit. 0 refuses all calls that cost points."
        error={errors.points_per_period}
        maxLength={20}
      />
      <TextField
        label="Points per day (UTC)"
        name="points_per_day"
        inputMode="numeric"
        autoComplete="off"
        isRequired={false}
        defaultValue={textOf(budget.points_per_day)}
        error={errors.points_per_day}
        maxLength={20}
      />
    </>
  );
}

const textOf = (figure: number | null) => (figure === null ? '' : String(figure));
