type Field = {
  value: string;
  type: 'text' | 'email' | 'password';
  isRequired: boolean;
  autoComplete: string;
};

const PASSWORD_MIN_CHARACTERS = 8;

const EMPTY = {
  text: 'Fill in this field.',
  email: 'Enter an email address.',
  password: 'Enter a password.',
} as const;

/** Something on both sides of one @; the API and its mail decide the rest. */
const EMAIL = /^[^\s@]+@[^\s@]+$/;

/** What is wrong with a field's value, as a sentence that says what to do; undefined for one that may be right. */
export function valueFault({ value, type, isRequired, autoComplete }: Field): string | undefined {
  if (value.trim() === '') {
    if (!isRequired) return undefined;
    return EMPTY[type];
  }
  if (type === 'email' && !EMAIL.test(value.trim()))
    return 'Enter an email address, such as name@example.com.';
  // Characters as the API counts them: an emoji is one.
  if (autoComplete === 'new-password' && Array.from(value).length < PASSWORD_MIN_CHARACTERS)
    return `Use at least ${String(PASSWORD_MIN_CHARACTERS)} characters.`;
  return undefined;
}
