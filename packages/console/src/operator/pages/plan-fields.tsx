import type { LimitField } from '@tollgate/contracts/entitlement';
import { FieldError } from '../../ui/form/field-error.ts';
import { SelectField } from '../../ui/form/select-field.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { LIMIT_FIELDS, LIMIT_LABELS, limitOf } from './limits.ts';
import type { Plan, WantedPlan } from './plan-queries.ts';

const DAY_SEC = 86_400;

const DEFAULT_GRACE_SEC = 3 * DAY_SEC;

/** What the API takes; people read other units elsewhere. */
const UNITS: Partial<Record<LimitField, string>> = {
  time_sec_limit: ' (seconds)',
  traffic_bytes_limit: ' (bytes)',
};

type PlanFieldsProps = {
  /** Undefined: a new one. */
  plan?: Plan;
  products: readonly { product_id: number; name: string }[];
  errors: Readonly<Record<string, string | undefined>>;
};

/** The fields of a plan's name, product, limits and grace window. */
export function PlanFields({ plan, products, errors }: PlanFieldsProps) {
  return (
    <>
      <TextField
        label="Name"
        name="name"
        autoComplete="off"
        defaultValue={plan?.name ?? ''}
        error={errors['name']}
      />
      <SelectField
        label="Product"
        name="product_id"
        options={[
          { value: '', label: 'None' },
          ...products.map(({ product_id, name }) => ({ value: String(product_id), label: name })),
        ]}
        defaultValue={String(plan?.product_id ?? '')}
      />
      {LIMIT_FIELDS.map((field) => (
        <TextField
          key={field}
          label={`${LIMIT_LABELS[field]}${UNITS[field] ?? ''}`}
          name={field}
          autoComplete="off"
          inputMode="numeric"
          description="Empty is unlimited."
          defaultValue={String((plan === undefined ? null : limitOf(plan.description, field)) ?? '')}
          error={errors[field] ?? errors[`description.${field}`]}
          isRequired={false}
        />
      ))}
      <TextField
        label="Grace window (days)"
        name="grace_days"
        autoComplete="off"
        description="How long calls are accepted after a period that no other follows."
        defaultValue={String((plan?.grace_sec ?? DEFAULT_GRACE_SEC) / DAY_SEC)}
        error={errors['grace_days'] ?? errors['grace_sec']}
      />
    </>
  );
}

/** Of the form's values. What the form doesn't have stays. @throws {FieldError} */
export function wantedPlan(values: Readonly<Record<string, string>>, plan?: Plan): WantedPlan {
  const { name = '', product_id = '', grace_days = '' } = values;
  const limits = LIMIT_FIELDS.flatMap((field): [string, number | null][] => {
    const limit = wholeNumber(field, values[field] ?? '');
    // A new plan says nothing of what it doesn't limit.
    return limit === null && plan?.description[field] === undefined ? [] : [[field, limit]];
  });
  const days = Number(grace_days.trim());
  if (grace_days.trim() === '' || !Number.isFinite(days) || days < 0) {
    throw new FieldError('grace_days', 'Enter a number of days, or 0.');
  }
  return {
    name: name.trim(),
    product_id: product_id === '' ? null : Number(product_id),
    description: { ...plan?.description, ...Object.fromEntries(limits) },
    grace_sec: Math.round(days * DAY_SEC),
  };
}

/** Null if it is empty. */
function wholeNumber(field: string, text: string): number | null {
  // As people write them: 1,000,000 or 1 000 000.
  const digits = text.replaceAll(/[\s,_]/g, '');
  if (digits === '') return null;
  const value = Number(digits);
  if (!/^\d+$/.test(digits) || !Number.isSafeInteger(value)) {
    throw new FieldError(field, 'Enter a whole number, or nothing for unlimited.');
  }
  return value;
}
