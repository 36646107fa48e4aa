/** Errors of RFC 6749, section 5.2, that are neither the request's shape nor a fault of ours. */
const OAUTH_ERRORS = {
  invalid_client: { status: 401, description: 'Client authentication failed.' },
  unsupported_grant_type: { status: 400, description: 'The grant_type must be client_credentials.' },
  invalid_scope: { status: 400, description: 'The scope must be api.' },
} as const;

/** An error of the OAuth endpoints. The answer has no varying part, so equal errors are equal to the byte. */
export class OAuthError extends Error {
  readonly code: keyof typeof OAUTH_ERRORS;
  readonly status: number;

  constructor(code: keyof typeof OAUTH_ERRORS) {
    super(OAUTH_ERRORS[code].description);
    this.name = 'OAuthError';
    this.code = code;
    this.status = OAUTH_ERRORS[code].status;
  }
}
