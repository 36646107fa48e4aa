import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { describedAs } from '../../../http/input/described-as.ts';

const base64url = (maxCharacters: number) =>
  describedAs(
    z
      .string('must be text')
      .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url')
      .max(maxCharacters, 'is too long'),
    { type: 'string', pattern: '^[A-Za-z0-9_-]+$', maxLength: maxCharacters },
  );

/** A credential id has at most 1,023 bytes (WebAuthn, section 5.8.3). */
const CREDENTIAL_ID_CHARACTERS = 1_364;
const PART_CHARACTERS = 8_192;

const credentialFields = {
  id: base64url(CREDENTIAL_ID_CHARACTERS),
  rawId: base64url(CREDENTIAL_ID_CHARACTERS),
  type: z.literal('public-key'),
};

/** `RegistrationResponseJSON` of WebAuthn, section 5.1; members that nothing here reads are ignored. */
export const registrationSchema = z
  .looseObject({
    ...credentialFields,
    response: z.looseObject({
      clientDataJSON: base64url(PART_CHARACTERS),
      attestationObject: base64url(PART_CHARACTERS),
      transports: z
        .array(z.string().regex(/^[a-z-]{1,30}$/))
        .max(10)
        .optional(),
    }),
  })
  .meta({
    description: 'What `navigator.credentials.create()` returned, as `RegistrationResponseJSON` (WebAuthn).',
  });

/** `AuthenticationResponseJSON` of WebAuthn, section 5.1. */
export const assertionSchema = z
  .looseObject({
    ...credentialFields,
    response: z.looseObject({
      clientDataJSON: base64url(PART_CHARACTERS),
      authenticatorData: base64url(PART_CHARACTERS),
      signature: base64url(PART_CHARACTERS),
      userHandle: base64url(100).nullish(),
    }),
  })
  .meta({
    description: 'What `navigator.credentials.get()` returned, as `AuthenticationResponseJSON` (WebAuthn).',
  });

export type Registration = z.output<typeof registrationSchema>;
export type Assertion = z.output<typeof assertionSchema>;

/** One answer for everything that can be wrong with a passkey's response; the log has the cause. */
export function passkeyRefused(cause?: unknown): Problem {
  const message = 'was not accepted; try again';
  return new Problem('invalid_request', {
    detail: `credential: ${message}.`,
    errors: [{ field: 'credential', message }],
    cause,
  });
}
