import { TextField } from '../../ui/form/text-field.tsx';

const REDIRECT_URIS_MAX_LENGTH = 20_000;

export function redirectUrisOf(values: Readonly<Record<string, string>>): string[] {
  return (values['redirect_uris'] ?? '').split(/\s+/).filter((uri) => uri !== '');
}

type RedirectUrisFieldProps = {
  redirectUris: readonly string[];
  error: string | undefined;
};

/** Where people are sent back to. A URI has no spaces, so one field holds them all. */
export function RedirectUrisField({ redirectUris, error }: RedirectUrisFieldProps) {
  return (
    <TextField
      label="Redirect URIs"
      name="redirect_uris"
      autoComplete="off"
      defaultValue={redirectUris.join(' ')}
      description="Exactly as your application sends them. Separate several by spaces."
      error={error}
      maxLength={REDIRECT_URIS_MAX_LENGTH}
    />
  );
}
