import type { AcceptedDifference } from './accepted-difference.ts';

const clientAuthentication: AcceptedDifference[] = [
  {
    reason:
      'RFC 9110, section 15.5.2: every 401 has a challenge. RFC 6749, section 5.2, demands it only after an Authorization header, and service.md wants one answer for all bad credentials.',
    ours: '401 invalid_client challenge',
    theirs: '401 invalid_client',
    requests: [
      'token: secret with its + not encoded',
      'token: wrong secret',
      'token: secret and a space',
      'token: no secret',
      'token: empty secret',
      'token: unknown client',
      'token: client id that is no UUID',
      'token: client id in capitals',
      'token: client id as a path',
      'token: client id __proto__',
      'token: grant_type unknown, wrong secret',
      'token: no grant_type, wrong secret',
      'token: scope admin, wrong secret',
      'token: client_secret[0]',
      'token: JSON behind the body',
      'token: very long secret',
      'token: secret beyond ASCII',
      'token: line break in the secret',
      'token: line break behind the body',
    ],
  },
  {
    reason:
      'A form that is not UTF-8, or has a NUL or a broken percent sign, is malformed whole (appendix B), before any of its fields is judged.',
    ours: '400 invalid_request',
    theirs: '401 invalid_client',
    requests: [
      'token: NUL encoded, in the secret',
      'token: NUL encoded, in the client id',
      'token: no UTF-8 in the secret',
      'token: no UTF-8 in the secret, encoded',
      'token: broken percent-encoding in the secret',
    ],
  },
  {
    reason:
      'RFC 6749, section 5.2: no client authentication, and an unsupported method, are invalid_client; a client that waits for a challenge (curl --anyauth, wget, Python) needs the 401.',
    ours: '401 invalid_client challenge',
    theirs: '400 invalid_request',
    requests: [
      'token: no client id',
      'token: empty client id',
      'token: no credentials',
      'token: empty body',
      'token: body of separators',
      'token: client_id[]',
      'token: separated by semicolons',
      'token: JSON under the form’s type',
      'token: Basic, secret not form-encoded',
      'token: Basic, no colon',
      'token: Basic, no secret',
      'token: Basic, no client id',
      'token: Basic, only a colon',
      'token: Basic, broken percent-encoding',
      'token: Basic, NUL encoded',
      'token: Basic, NUL as it is',
      'token: Basic, line break behind',
      'token: Basic, beyond ASCII, UTF-8',
      'token: Basic, no UTF-8',
      'token: Basic, no UTF-8, encoded',
      'token: Basic, a tab',
      'token: Basic, base64 and more',
      'token: Basic, base64 with a foreign character',
      'token: Basic, no base64',
      'token: Basic, scheme alone',
      'token: Basic, empty header',
      'token: Basic, scheme Bearer',
      'token: Basic, scheme Digest',
      'token: Basic, in Proxy-Authorization',
      'token: credentials in headers of their names',
      'token: all fields in the query',
    ],
  },
  {
    reason:
      'RFC 6749, section 5.2: an unsupported authentication method is invalid_client. Theirs supports assertions, and finds this one malformed.',
    ours: '401 invalid_client challenge',
    theirs: '400 invalid_request',
    requests: ['token: client_assertion alone'],
  },
  {
    reason: 'RFC 9110, section 11.4: one space or more stand between the scheme and the credentials.',
    ours: '200',
    theirs: '400 invalid_request',
    requests: ['token: Basic, two spaces'],
  },
];

const grants: AcceptedDifference[] = [
  {
    reason: 'service.md, "Token endpoint": a missing scope, or one that is not `api`, is 400 invalid_scope.',
    ours: '400 invalid_scope',
    theirs: '200',
    requests: [
      'token: no scope',
      'token: empty scope',
      'token: scope admin',
      'token: scope api admin',
      'token: scope api api',
      'token: scope in capitals',
      'token: scope[]',
      'token: scope as an object',
      'token: Basic, good, scope admin',
    ],
  },
  {
    reason:
      'RFC 6749, section 5.2: the server has this grant, and the client may not use it. Theirs has it only where an offline scope is offered.',
    ours: '400 unauthorized_client',
    theirs: '400 unsupported_grant_type',
    requests: ['token: grant_type refresh_token'],
  },
];

const formShape: AcceptedDifference[] = [
  {
    reason:
      'RFC 6749, section 3.2: no parameter may stand twice, known or not. Appendix B: a form is UTF-8, percent-encoded. Theirs looks only at the parameters that it knows and mends what is broken.',
    ours: '400 invalid_request',
    theirs: '200',
    requests: [
      'token: unknown parameter twice',
      'token: a[]',
      'token: NUL as it is',
      'token: no UTF-8 in an unknown parameter',
      'token: overlong UTF-8 of a slash',
      'token: broken percent-encoding in an unknown parameter',
    ],
  },
  {
    reason: 'A NUL makes the whole form malformed, before any of its fields is judged.',
    ours: '400 invalid_request',
    theirs: '400 invalid_scope',
    requests: ['token: NUL encoded, behind the scope'],
  },
  {
    reason:
      'RFC 6749, section 3.2: unrecognised parameters are ignored. Theirs reads the first 1,000 fields only.',
    ours: '200',
    theirs: '400 invalid_request',
    requests: ['token: 2000 unknown fields in front'],
  },
  {
    reason:
      'RFC 9110, section 15.5.14: a body over the limit is 413. Theirs has a limit of 56 KiB and says 400.',
    ours: '413 invalid_request',
    theirs: '400 invalid_request',
    requests: ['token: chunked, oversized', 'token: oversized'],
  },
  {
    reason: 'MAX_BODY_BYTES is 16 KiB by default, a hundred times a token request; their limit is 56 KiB.',
    ours: '413 invalid_request',
    theirs: '200',
    requests: ['token: between the two size limits'],
  },
];

const http: AcceptedDifference[] = [
  {
    reason:
      'RFC 9110, section 15.5.6: another method on a known path is 405 with Allow; RFC 6749, section 3.2: clients must use POST. Theirs knows no such route.',
    ours: '405 invalid_request',
    theirs: '404 storable',
    requests: [
      'token: method GET',
      'token: method PUT',
      'token: method PATCH',
      'token: method DELETE',
      'token: method OPTIONS',
      'token: method TRACE',
      'token: method PROPFIND',
      'token: method GET with good fields in the query',
      'token: method PUT with a good body',
      'token: method override',
    ],
  },
  {
    reason: 'The same; an answer to HEAD has no body (RFC 9110, section 9.3.2).',
    ours: '405',
    theirs: '404 storable',
    requests: ['token: method HEAD'],
  },
  {
    reason: 'RFC 3986, section 6.2.2.1: paths are case-sensitive; a path has one spelling.',
    ours: '404 not_found',
    theirs: '200',
    requests: ['token: a slash behind the path', 'token: path in capitals'],
  },
  {
    reason: 'service.md, "Errors": problem+json, never stored; theirs is plain text.',
    ours: '404 not_found',
    theirs: '404 storable',
    requests: ['token: path that does not decode', 'token: path that does not exist'],
  },
  {
    reason: 'RFC 6749, section 5.2: errors are JSON, whatever is accepted; theirs becomes a page.',
    ours: '401 invalid_client challenge',
    theirs: '401',
    requests: ['token: Accept text/html'],
  },
  {
    reason:
      'service.md, "Token endpoint": every response is JSON, with an error and no-store, also where the HTTP parser refuses (RFC 9112, sections 2.2, 5 and 6). Theirs leaves that to Node.js, which answers with a bare status line.',
    ours: '400 invalid_request',
    theirs: '400 storable',
    requests: [
      'token: announced length no number',
      'token: announced length negative',
      'token: announced length twice, differing',
      'token: length and chunks',
      'token: chunk length no number',
      'token: NUL in a header',
      'token: space before a header’s colon',
      'token: folded header',
    ],
  },
  {
    reason: 'The same, for a head over the limit (RFC 6585, section 5).',
    ours: '431 invalid_request',
    theirs: '431 storable',
    requests: ['token: huge header'],
  },
  {
    reason:
      'RFC 9112, section 6.2: the length says where the request ends, and it was a good one. What follows belongs to a next request, which is never read: the connection is to be closed (section 9.6). Theirs refuses both.',
    ours: '200',
    theirs: '400 storable',
    requests: ['token: garbage behind the announced length'],
  },
  {
    reason:
      'RFC 9110, section 10.1.1: 417 to an unknown expectation is a MAY. Other servers pass it over, and so does this one.',
    ours: '200',
    theirs: '417 storable',
    requests: ['token: Expect something else'],
  },
  {
    reason:
      'Theirs asks a hook which origins a client may have. Clients here hold a secret and are no pages: no CORS header is ever sent, so no page can read the answer.',
    ours: '200',
    theirs: '400 invalid_request',
    requests: ['token: Origin of another site'],
  },
];

export const tokenDifferences = [...clientAuthentication, ...grants, ...formShape, ...http];
