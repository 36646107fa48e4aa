import { FieldError } from '../../ui/form/form.tsx';
import type { AlertLimit, AlertSettings } from './queries.ts';
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

/** The settings that the form holds. @throws {FieldError} for a threshold that isn't one */
export function settingsOf(values: Readonly<Record<string, string>>): Omit<AlertSettings, 'version'> {
  const limits: AlertSettings['limits'] = {};
  for (const limit of LIMITS) {
    const mode = values[`mode_${limit}`];
    if (mode === 'none') limits[limit] = [];
    if (mode === 'own') limits[limit] = sharesOf(values, `shares_${limit}`, 1);
  }
  return { mail: values['mail'] === 'on', shares: sharesOf(values, 'shares', 0), limits };
}

const SHARES_MAX = 10;

function sharesOf(values: Readonly<Record<string, string>>, field: string, atLeast: number): number[] {
  const words = (values[field] ?? '').split(/[\s,;%]+/).filter((word) => word !== '');
  const shares = [...new Set(words.map(Number))].toSorted((one, other) => one - other);
  if (shares.some((share) => !Number.isInteger(share) || share < 1 || share > 100)) {
    throw new FieldError(field, 'Enter whole numbers from 1 to 100, separated by commas.');
  }
  if (shares.length < atLeast) throw new FieldError(field, 'Enter at least one threshold.');
  if (shares.length > SHARES_MAX) throw new FieldError(field, 'Enter at most 10 thresholds.');
  return shares;
}
