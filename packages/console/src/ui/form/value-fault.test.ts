import { expect, test } from '@jest/globals';
import { valueFault } from './value-fault.ts';

const field = { value: '', type: 'text', isRequired: true, autoComplete: 'off' } as const;

test.each([
  [{}, 'Fill in this field.'],
  [{ value: '  ' }, 'Fill in this field.'],
  [{ isRequired: false }, undefined],
  [{ value: 'Ada' }, undefined],
  [{ type: 'email' }, 'Enter an email address.'],
  [{ type: 'email', value: 'ada@' }, 'Enter an email address, such as name@example.com.'],
  [{ type: 'email', value: ' ada@example.com ' }, undefined],
  [{ type: 'password', autoComplete: 'new-password', value: '1234567' }, 'Use at least 8 characters.'],
  // As the API counts them.
  [{ type: 'password', autoComplete: 'new-password', value: '😀😀😀😀' }, 'Use at least 8 characters.'],
  [{ type: 'password', autoComplete: 'new-password', value: '12345678' }, undefined],
  [{ type: 'password', autoComplete: 'current-password', value: '1' }, undefined],
] as const)('of %j: %s', (part, fault) => {
  expect(valueFault({ ...field, ...part })).toBe(fault);
});
