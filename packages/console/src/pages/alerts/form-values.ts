import { FieldError } from '../../ui/form/field-error.ts';
import type { AlertLimit, ChosenSettings } from './queries.ts';
import { LIMITS } from './settings-text.ts';

export const MODES = [
  { value: 'default', label: 'Default thresholds' },
  { value: 'own', label: 'Own thresholds' },
  { value: 'none', label: 'No alerts' },
] as const;

/** Team slots have no default: seats that one pays for are meant to be taken. */
export const SLOT_MODES = MODES.filter(({ value }) => value !== 'default');

export type Mode = (typeof MODES)[number]['value'];

export function modeOf(limit: AlertLimit, shares: readonly number[] | undefined): Mode {
  if (shares === undefined) return limit === 'team_slots_limit' ? 'none' : 'default';
  return shares.length === 0 ? 'none' : 'own';
}

/**
 * The settings that the form holds. A limit that it doesn't show keeps what `before` has for it.
 * @throws {FieldError} for a threshold that isn't one
 */
export function settingsOf(
  values: Readonly<Record<string, string>>,
  before: Pick<ChosenSettings, 'limits'>,
): ChosenSettings {
  const limits: ChosenSettings['limits'] = {};
  for (const limit of LIMITS) {
    const mode = values[`mode_${limit}`];
    const kept = before.limits[limit];
    if (mode === undefined && kept !== undefined) limits[limit] = kept;
    if (mode === 'none') limits[limit] = [];
    if (mode === 'own') limits[limit] = sharesOf(values, `shares_${limit}`, 1);
  }
  return { mail: values['mail'] === 'on', shares: sharesOf(values, 'shares', 0), limits };
}

const SHARES_MAX = 10;

export const NOT_A_SHARE = 'Enter a whole number from 1 to 100.';

/** Whether a text is a threshold in percent. */
export function isShare(text: string): boolean {
  const share = Number(text.trim());
  return Number.isInteger(share) && share >= 1 && share <= 100;
}

function sharesOf(values: Readonly<Record<string, string>>, field: string, atLeast: number): number[] {
  const own = values[`${field}_own`] ?? '';
  if (own !== '' && !isShare(own)) throw new FieldError(field, NOT_A_SHARE);
  const words = `${values[field] ?? ''} ${own}`.split(' ').filter((word) => word !== '');
  const shares = [...new Set(words.map(Number))].toSorted((one, other) => one - other);
  if (shares.length < atLeast) throw new FieldError(field, 'Choose at least one threshold.');
  if (shares.length > SHARES_MAX)
    throw new FieldError(field, `Choose at most ${String(SHARES_MAX)} thresholds.`);
  return shares;
}
