import { useState } from 'react';
import { FieldError } from '../../ui/form/field-error.ts';
import { SelectField } from '../../ui/form/select-field.tsx';
import { TextField } from '../../ui/form/text-field.tsx';

export const HOUR_SEC = 3_600;
const DAY_SEC = 86_400;

const CUSTOM = 'custom';

const LIFESPANS = [
  { value: String(HOUR_SEC), label: '1 hour' },
  { value: String(12 * HOUR_SEC), label: '12 hours' },
  { value: String(DAY_SEC), label: '24 hours' },
  { value: String(7 * DAY_SEC), label: '7 days' },
  { value: String(30 * DAY_SEC), label: '30 days' },
  { value: String(365 * DAY_SEC), label: '1 year' },
  { value: CUSTOM, label: 'Custom' },
] as const;

const UNITS = [
  { value: '60', label: 'Minutes' },
  { value: String(HOUR_SEC), label: 'Hours' },
  { value: String(DAY_SEC), label: 'Days' },
] as const;

export const DEFAULT_LIFESPAN_SEC = DAY_SEC;

/** The seconds that were chosen. @throws {FieldError} where the number isn't whole; the API checks the rest. */
export function lifespanSecOf(values: Readonly<Record<string, string>>): number {
  const preset = values['token_lifespan_sec'] ?? '';
  if (preset !== CUSTOM) return Number(preset);
  const count = values['lifespan_count']?.trim() ?? '';
  if (!/^\d{1,9}$/.test(count)) throw new FieldError('token_lifespan_sec', 'Enter a whole number.');
  return Number(count) * Number(values['lifespan_unit']);
}

type LifespanFieldProps = {
  label: string;
  lifespanSec: number;
  description: string;
  error: string | undefined;
};

/** How long tokens of an application are valid: a usual time, or a number and its unit. */
export function LifespanField({ label, lifespanSec, description, error }: LifespanFieldProps) {
  const isUsual = LIFESPANS.some(({ value }) => value === String(lifespanSec));
  const [chosen, setChosen] = useState(isUsual ? String(lifespanSec) : CUSTOM);
  const unit = UNITS.findLast(({ value }) => lifespanSec % Number(value) === 0) ?? UNITS[0];
  return (
    <>
      <SelectField
        label={label}
        name="token_lifespan_sec"
        options={LIFESPANS}
        value={chosen}
        onChange={setChosen}
        description={description}
      />
      {chosen === CUSTOM && (
        <>
          <TextField
            label="Number"
            name="lifespan_count"
            autoComplete="off"
            defaultValue={isUsual ? '' : String(Math.round(lifespanSec / Number(unit.value)))}
            description="At least 1 minute and at most 100 years."
            error={error}
            maxLength={9}
          />
          <SelectField label="Unit" name="lifespan_unit" options={UNITS} defaultValue={unit.value} />
        </>
      )}
    </>
  );
}
