/** RFC 6749, section 5.2. */
const OAUTH_ERRORS = {
  invalid_client: { status: 401, description: 'Client authentication failed.' },
  unsupported_grant_type: {
    status: 400,
    description: 'The grant type is not supported.',
  },
  invalid_grant: {
    status: 400,
    description: 'The code or refresh token is invalid, expired, used, or was issued to another client.',
  },
  /** RFC 8707, section 2. */
  invalid_target: { status: 400, description: 'The resource is unknown, or was not granted.' },
  /** RFC 6750, section 3.1, of an initial access token. */
  invalid_token: { status: 401, description: 'The initial access token is missing or invalid.' },
  /** RFC 7591, section 3.2.2. */
  invalid_redirect_uri: { status: 400, description: 'A redirect URI is invalid.' },
  invalid_client_metadata: { status: 400, description: 'The client metadata is invalid.' },
  unauthorized_client: { status: 400, description: 'The client may not use this grant type.' },
  invalid_scope: { status: 400, description: 'The requested scope is invalid. Use api.' },
} as const;

/** Equal errors are equal to the byte, so that a response tells nothing but its code. */
export class OAuthError extends Error {
  readonly code: keyof typeof OAUTH_ERRORS;
  readonly status: number;

  constructor(code: keyof typeof OAUTH_ERRORS, description: string = OAUTH_ERRORS[code].description) {
    super(description);
    this.name = 'OAuthError';
    this.code = code;
    this.status = OAUTH_ERRORS[code].status;
  }
}
