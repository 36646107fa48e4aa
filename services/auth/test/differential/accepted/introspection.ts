import type { AcceptedDifference } from './accepted-difference.ts';

export const introspectionDifferences: AcceptedDifference[] = [
  {
    reason: 'RFC 7662, section 2.3, wants a 401 without a good credential, and RFC 9110 a challenge with it.',
    ours: '401 unauthorized challenge',
    theirs: '400 invalid_request',
    requests: [
      'introspection: no credential',
      'introspection: malformed Basic',
      'introspection: Basic without a secret',
      'introspection: the token itself as Bearer',
    ],
  },
  {
    reason: 'service.md, "Errors": the private listener speaks problem+json, with codes of its own.',
    ours: '401 unauthorized challenge',
    theirs: '401 invalid_client challenge',
    requests: [
      'introspection: wrong secret',
      'introspection: unknown service',
      'introspection: wrong secret, no token',
    ],
  },
  {
    reason: 'architecture.md, "Listeners": services authenticate with HTTP Basic, and with nothing else.',
    ours: '401 unauthorized challenge',
    theirs: '200 active',
    requests: ['introspection: credential in the body'],
  },
  {
    reason: 'RFC 7662, section 2.2: a token that the server does not know is inactive, and no error.',
    ours: '200 inactive',
    theirs: '400 unsupported_token_type',
    requests: ['introspection: JWT as a token'],
  },
  {
    reason: 'As at the token endpoint: a form that is not well-formed is refused whole.',
    ours: '400 invalid_request',
    theirs: '200 inactive',
    requests: [
      'introspection: NUL as a token',
      'introspection: token that is not UTF-8',
      'introspection: broken percent-encoding',
    ],
  },
  {
    reason: 'RFC 9110, section 15.5.14, and a code of its own.',
    ours: '413 payload_too_large',
    theirs: '400 invalid_request',
    requests: ['introspection: oversized'],
  },
  {
    reason: 'RFC 9110, section 15.5.16, and a code of its own.',
    ours: '415 unsupported_media_type',
    theirs: '400 invalid_request',
    requests: ['introspection: JSON'],
  },
  {
    reason: 'RFC 9110, section 15.5.6, as at the token endpoint.',
    ours: '405 method_not_allowed',
    theirs: '404 storable',
    requests: ['introspection: method GET', 'introspection: method PUT'],
  },
];
