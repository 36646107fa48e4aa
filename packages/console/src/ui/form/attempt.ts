import { createContext } from 'react';

/** Whether the form was submitted with a field that it can tell is wrong: each of them says so then. */
export const WasAttempted = createContext(false);

/**
 * Whether a field is known to be wrong. What a password manager has filled in may be in the input before the field
 * learns of it, so an empty field's input is looked at.
 */
export function isFaulty(field: HTMLElement): boolean {
  if (field.dataset['fault'] !== 'empty') return true;
  return field.querySelector('input')?.value.trim() === '';
}
