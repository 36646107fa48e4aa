import { z } from 'zod';
import { id, instant } from '../../http/answer-fields.ts';

const recoveryCodes = z
  .array(z.string())
  .meta({ description: 'Ten codes, each good for one sign-in. They are not shown again.' });

const passkeySchema = z
  .object({ passkey_id: id, name: z.string(), created_at: instant, last_used_at: instant.nullable() })
  .meta({ id: 'Passkey' });

/** WebAuthn's own JSON, which the browser reads. */
export const webauthnOptionsSchema = z
  .looseObject({ challenge: z.string() })
  .meta({ description: 'Options for the browser (WebAuthn).' });

export const waysToSignInSchema = z.object({
  passkeys: z
    .object({ origin: z.string().meta({ description: 'The origin whose pages can use passkeys.' }) })
    .nullable()
    .meta({
      description: 'Null if passkeys are not available: they need a domain name and TLS, or localhost.',
    }),
});

export const twoFactorSchema = z
  .object({
    enabled: z.boolean().meta({ description: 'Whether a sign-in with the password needs a second step.' }),
    totp: z.object({ enabled_at: instant }).nullable().meta({ description: 'The authenticator app.' }),
    passkeys: z.array(passkeySchema),
    recovery_codes_left: z.int().min(0),
  })
  .meta({ id: 'TwoFactor' });

export const totpSetupSchema = z.object({
  secret: z.string().meta({ description: 'The secret in base32, for apps that cannot read the QR code.' }),
  otpauth_url: z.string().meta({ description: 'The content of the QR code.' }),
});

export const enabledSchema = z.object({
  recovery_codes: recoveryCodes.nullable().meta({
    description: 'Ten recovery codes if this is the first factor, else null. They are not shown again.',
  }),
});

export const addedPasskeySchema = enabledSchema.extend({ passkey: passkeySchema });
export const renamedPasskeySchema = passkeySchema;
export const recoveryCodesSchema = z.object({ recovery_codes: recoveryCodes });
