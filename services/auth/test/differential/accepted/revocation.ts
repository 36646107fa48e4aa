import type { AcceptedDifference } from './accepted-difference.ts';

const NO_STORE = 'service.md: every answer has no-store; RFC 7009 is silent.';

export const revocationDifferences: AcceptedDifference[] = [
  {
    reason: NO_STORE,
    ours: '200',
    theirs: '200 storable',
    requests: [
      'revocation: unknown token',
      'revocation: malformed token',
      'revocation: expired token',
      'revocation: its own token, unknown hint, unknown parameter',
      'revocation: the same again',
      'revocation: by body',
    ],
  },
  {
    reason: NO_STORE,
    ours: '400 invalid_request',
    theirs: '400 invalid_request storable',
    requests: [
      'revocation: no token',
      'revocation: empty token',
      'revocation: token twice',
      'revocation: token[]',
      'revocation: hint twice',
      'revocation: JSON',
      'revocation: token in the query',
      'revocation: credentials in both places',
      'revocation: token of another client',
    ],
  },
  {
    reason:
      'RFC 9110, section 15.5.6: another method on a known path is 405 with Allow. Theirs knows no such route.',
    ours: '405 invalid_request',
    theirs: '404 storable',
    requests: ['revocation: method GET', 'revocation: method DELETE'],
  },
  {
    reason: NO_STORE,
    ours: '401 invalid_client challenge',
    theirs: '401 invalid_client challenge storable',
    requests: ['revocation: wrong secret', 'revocation: unknown client'],
  },
  {
    reason: `${NO_STORE} No client authentication is invalid_client, as at the token endpoint.`,
    ours: '401 invalid_client challenge',
    theirs: '400 invalid_request storable',
    requests: [
      'revocation: no credentials',
      'revocation: malformed Basic',
      'revocation: the token itself as Bearer',
    ],
  },
  {
    reason: `${NO_STORE} RFC 9110, section 15.5.2: every 401 has a challenge.`,
    ours: '401 invalid_client challenge',
    theirs: '401 invalid_client storable',
    requests: ['revocation: client id alone', 'revocation: wrong secret in the body'],
  },
  {
    reason: 'As at the token endpoint: a form that is not well-formed is refused whole.',
    ours: '400 invalid_request',
    theirs: '200 storable',
    requests: ['revocation: NUL as a token', 'revocation: broken percent-encoding'],
  },
  {
    reason: 'RFC 9110, section 15.5.14: a body over the limit is 413.',
    ours: '413 invalid_request',
    theirs: '400 invalid_request storable',
    requests: ['revocation: oversized'],
  },
  {
    reason: 'RFC 7009, section 2.2: an invalid token is no error, for the client could do nothing about it.',
    ours: '200',
    theirs: '400 unsupported_token_type storable',
    requests: ['revocation: JWT as a token'],
  },
];
