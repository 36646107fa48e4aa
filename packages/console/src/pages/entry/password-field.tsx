import { TextField } from '../../ui/form/text-field.tsx';

/** A new password, with its rules stated before it is refused. */
export function NewPasswordField({ error }: { error: string | undefined }) {
  return (
    <TextField
      label="Password"
      name="password"
      type="password"
      autoComplete="new-password"
      description="At least 8 characters. Common passwords, and those that contain your email address, are refused."
      error={error}
      autoFocus
    />
  );
}
