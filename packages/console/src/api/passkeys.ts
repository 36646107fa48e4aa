import { queryOptions } from '@tanstack/react-query';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/browser';
import { ApiError, api, resultOf } from './client.ts';
import type { Session } from './client.ts';

const waysToSignInQuery = queryOptions({
  queryKey: ['sign-in'],
  queryFn: ({ signal }) => resultOf(api.GET('/api/console/sign-in', { signal })),
  staleTime: Infinity,
});

/** `elsewhere`: at the origin that it names. `none`: neither here nor there. */
export type PasskeySupport = { at: 'here' | 'none' } | { at: 'elsewhere'; origin: string };

/** Where this installation's passkeys work (docs/configuration.md, PUBLIC_URL). */
export const passkeySupportQuery = queryOptions({
  ...waysToSignInQuery,
  select: ({ passkeys }): PasskeySupport => {
    if (passkeys === null) return { at: 'none' };
    if (passkeys.origin !== location.origin) return { at: 'elsewhere', origin: passkeys.origin };
    return { at: 'PublicKeyCredential' in globalThis ? 'here' : 'none' };
  },
});

/** The browser's prompt was closed, took too long, or found no passkey. Nothing was sent. */
class PasskeyError extends ApiError {
  constructor(message: string, cause: unknown) {
    super(null);
    this.name = 'PasskeyError';
    this.message = message;
    this.cause = cause;
  }
}

/** Lets the browser create a passkey. @throws {ApiError} */
export async function createPasskey(optionsJSON: unknown): Promise<RegistrationResponseJSON> {
  const { startRegistration } = await import('@simplewebauthn/browser');
  return prompted(
    startRegistration({ optionsJSON: optionsJSON as PublicKeyCredentialCreationOptionsJSON }),
    'The passkey was not created. The prompt was closed or took too long.',
  );
}

/** Lets the browser use a passkey. @throws {ApiError} */
export async function askForPasskey(optionsJSON: unknown): Promise<AuthenticationResponseJSON> {
  const { startAuthentication } = await import('@simplewebauthn/browser');
  return prompted(
    startAuthentication({ optionsJSON: optionsJSON as PublicKeyCredentialRequestOptionsJSON }),
    'No passkey was used. The prompt was closed or took too long.',
  );
}

/** Signs in by a passkey: as the second step if there is a token, else alone. @throws {ApiError} */
export async function signInByPasskey(step: { sign_in_token?: string }): Promise<Session> {
  const options = await resultOf(api.POST('/api/console/session/passkey/options', { body: step }));
  const credential = await askForPasskey(options);
  return resultOf(
    api.POST('/api/console/session/passkey', { body: { ...step, credential: plain(credential) } }),
  );
}

/** Before the challenge expires (5 minutes). */
const RENEW_OFFER_MS = 240_000;

/**
 * Offers passkeys in the autofill of the field with `autocomplete="… webauthn"`, until the signal or another prompt.
 * Resolves with null if none was chosen, or the browser can't. @throws {ApiError} if the chosen one was refused
 */
export async function signInByAutofill(signal: AbortSignal): Promise<Session | null> {
  const library = await import('@simplewebauthn/browser');
  const { browserSupportsWebAuthnAutofill, startAuthentication, WebAuthnAbortService } = library;
  if (!(await browserSupportsWebAuthnAutofill())) return null;
  for (;;) {
    const asked = api.POST('/api/console/session/passkey/options', { body: {}, signal });
    const options = await resultOf(asked).catch(() => null);
    if (options === null || signal.aborted) return null;
    const optionsJSON = options as unknown as PublicKeyCredentialRequestOptionsJSON;
    const expired = AbortSignal.timeout(RENEW_OFFER_MS);
    const ended = AbortSignal.any([signal, expired]);
    const end = () => {
      WebAuthnAbortService.cancelCeremony();
    };
    ended.addEventListener('abort', end);
    const credential = await startAuthentication({ optionsJSON, useBrowserAutofill: true }).catch(() => null);
    ended.removeEventListener('abort', end);
    if (credential !== null) {
      return resultOf(api.POST('/api/console/session/passkey', { body: { credential: plain(credential) } }));
    }
    if (!expired.aborted) return null;
  }
}

type Json<T> = { [Name in keyof T]: T[Name] } & { [name: string]: unknown };

/** The generated types allow further members, which an interface doesn't. */
export function plain<T extends { response: object }>(
  credential: T,
): Json<T> & { response: Json<T['response']> } {
  return { ...credential, response: { ...credential.response } } as Json<T> & {
    response: Json<T['response']>;
  };
}

async function prompted<T>(prompt: Promise<T>, message: string): Promise<T> {
  try {
    return await prompt;
  } catch (cause) {
    const isKnown = cause instanceof Error && 'code' in cause && cause.code === KNOWN_ALREADY;
    throw new PasskeyError(isKnown ? 'This device already has a passkey of your account.' : message, cause);
  }
}

const KNOWN_ALREADY = 'ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED';
