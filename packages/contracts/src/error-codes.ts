type ErrorText = {
  status: number;
  /** The title of its problem document. */
  title: string;
  /** When it is answered, as a sentence of Markdown. */
  meaning: string;
  /** What the caller can do about it. */
  fix?: string;
};

type Chapter = Readonly<Record<string, ErrorText>>;

const ACCESS = {
  unauthorized: {
    status: 401,
    title: 'Unauthorized',
    meaning:
      "The token is missing, malformed, expired or revoked; on `/api/console`, there is no session, or a sign-in's second step came too late.",
    fix: 'Get a new token, or sign in.',
  },
  invalid_credentials: {
    status: 401,
    title: 'Unauthorized',
    meaning: 'Sign-in failed.',
    fix: 'Try again, or reset the password.',
  },
  forbidden: {
    status: 403,
    title: 'Forbidden',
    meaning: 'The credential is valid but not for this request.',
    fix: "Check the token's scope and the origin of the page that sent it.",
  },
  insufficient_role: {
    status: 403,
    title: "The operator's role is not sufficient",
    meaning:
      "On the operators' API: the credential's role may not call the operation; `roles` has those that may.",
    fix: 'Use a credential with one of these roles.',
  },
  team_role: {
    status: 403,
    title: 'Your role in the team does not allow this',
    meaning:
      'A viewer of a team creates no applications, client secrets and tokens. Existing ones keep working.',
    fix: 'Ask the manager of the team for the role developer.',
  },
  sso_required: {
    status: 403,
    title: 'The team requires single sign-on',
    meaning:
      'The account’s team requires single sign-on, and the session began without it. It opens nothing but the sign-in.',
    fix: 'Sign in by single sign-on.',
  },
  csrf_token_required: {
    status: 403,
    title: 'The CSRF token is missing or wrong',
    meaning: 'A state-changing request of a session without its CSRF token.',
    fix: 'Send `X-CSRF-Token`.',
  },
  confirmation_required: {
    status: 403,
    title: 'The session must be confirmed first',
    meaning:
      'The session was signed in or confirmed more than 15 minutes ago, and the request changes how the account signs in.',
    fix: 'Confirm, then retry.',
  },
  mcp_not_in_plan: {
    status: 403,
    title: 'The plan does not include MCP',
    meaning: 'The plan leaves out calls by agents (MCP).',
    fix: 'Choose another plan, or call the data endpoint.',
  },
  mcp_mutations_not_in_plan: {
    status: 403,
    title: 'The plan does not let agents run mutations',
    meaning: 'A tool of MCP was to run a mutation, which the plan leaves to other programs.',
    fix: 'Run queries only, or call the data endpoint.',
  },
  account_blocked: {
    status: 403,
    title: 'The account is blocked',
    meaning: 'The account, its payer or the billing period is blocked, or a payment of the payer is overdue.',
    fix: 'If `detail` says that a payment is due, pay it there, or ask the manager of your team to. Otherwise contact support.',
  },
  account_deletion_pending: {
    status: 403,
    title: 'The account is being deleted',
    meaning: 'The owner is deleting the account.',
    fix: 'Sign in at the web interface and cancel the deletion.',
  },
} as const satisfies Chapter;

const PLAN_AND_LIMITS = {
  no_active_billing_period: {
    status: 402,
    title: 'There is no active billing period',
    meaning: 'The period and its grace window have ended, or there never was a period.',
    fix: 'Choose a plan on the Plan page.',
  },
  points_limit_exceeded: {
    status: 402,
    title: 'The points of the billing period are used up',
    meaning: "The period's points are used up.",
    fix: 'Upgrade on the Plan page, or wait for the next period.',
  },
  budget_exceeded: {
    status: 402,
    title: 'The budget is used up',
    meaning: 'The budget of the application or of the team member is used up.',
    fix: 'Wait until `resets_at`, or ask for a higher budget.',
  },
  points_reserved: {
    status: 429,
    title: 'The points left are reserved by calls in flight',
    meaning:
      "The plan's points are strict, and calls in flight have reserved what is left of the period's points, or of the budget.",
    fix: 'Retry after `Retry-After` seconds: calls that cost less than their estimate return the rest.',
  },
  time_limit_exceeded: {
    status: 402,
    title: 'The subscription time of the billing period is used up',
    meaning: "The period's subscription time is used up; open subscriptions end.",
    fix: 'Upgrade on the Plan page, or wait for the next period.',
  },
  traffic_limit_exceeded: {
    status: 402,
    title: 'The traffic of the billing period is used up',
    meaning: "The period's response bytes are used up; open subscriptions end.",
    fix: 'Upgrade on the Plan page, or wait for the next period.',
  },
  no_billing_period: {
    status: 404,
    title: 'The account has never had a billing period',
    meaning: 'At `/api/usage`: the account has never had a period.',
    fix: 'Choose a plan on the Plan page.',
  },
  rate_limit_exceeded: {
    status: 429,
    title: 'Too many calls per minute',
    meaning: "The payer's data calls exceed the plan's calls per minute; a batch counts its operations.",
    fix: 'Retry after `Retry-After` seconds.',
  },
  session_limit_exceeded: {
    status: 429,
    title: 'Too many calls in flight',
    meaning: 'As many data calls as the plan allows are in flight.',
    fix: 'Wait until one ends.',
  },
  subscription_limit_exceeded: {
    status: 429,
    title: 'Too many open subscriptions',
    meaning: 'As many subscriptions as the plan allows are open.',
    fix: 'Close one, or wait until one ends.',
  },
  too_many_streams: {
    status: 429,
    title: 'Too many open streams through one gateway',
    meaning: 'The payer has as many streams as one gateway holds for it.',
    fix: 'Close one, or wait until one ends.',
  },
} as const satisfies Chapter;

const REQUESTS = {
  invalid_request: {
    status: 400,
    title: 'The request is malformed',
    meaning: 'The request is malformed; `detail` says why.',
    fix: 'Fix the request as the message says; `errors` lists faulty fields.',
  },
  batch_too_large: {
    status: 400,
    title: 'The batch has too many operations',
    meaning: 'The batch has more operations than `limit` says.',
    fix: 'Send smaller batches, or one operation per request.',
  },
  document_invalid: {
    status: 400,
    title: 'The GraphQL document is not valid',
    meaning:
      "The GraphQL document can't be parsed, or doesn't match the schema; `locations` says where. Status 200 if the client accepts only `application/json`.",
    fix: 'Fix the document.',
  },
  document_unknown: {
    status: 400,
    title: 'The GraphQL document is unknown',
    meaning:
      "The request names a stored document that the gateway doesn't know, so it can't be checked against the guards.",
    fix: 'Send the text of the document, or ask the operator to register it.',
  },
  document_not_trusted: {
    status: 400,
    title: 'The GraphQL document is not registered',
    meaning:
      "Only registered documents run, and this one isn't, apart from blanks, comments and the order of definitions; `sha256` is that of its text.",
    fix: 'Register the document for the application, or have the operator do so.',
  },
  PERSISTED_QUERY_NOT_FOUND: {
    status: 200,
    title: 'PersistedQueryNotFound',
    meaning: "Automatic persisted queries: the hash isn't known yet.",
    fix: 'Send the text with its hash, as clients do by themselves.',
  },
  persisted_query_mismatch: {
    status: 400,
    title: 'The hash is not that of the GraphQL document',
    meaning: "`sha256Hash` isn't the SHA-256 of the text beside it.",
    fix: 'Compute the hash of the exact text.',
  },
  call_too_expensive: {
    status: 400,
    title: 'The GraphQL operation costs too many points',
    meaning:
      'The operation would cost up to `estimate` points, more than the plan allows for one call (`limit`).',
    fix: 'Ask for less at a time: `fields` lists what costs most.',
  },
  price_unknown: {
    status: 400,
    title: 'The price of the GraphQL operation is unknown',
    meaning:
      "The plan limits the points of a call, or its points are strict, and the operation's price can't be computed, or has no upper bound.",
    fix: 'Send the text of the operation, say how long its lists may be, or split it.',
  },
  document_too_deep: {
    status: 400,
    title: 'The GraphQL operation is nested too deep',
    meaning: 'The operation has more levels of fields than `limit` says.',
    fix: 'Ask for fewer levels in one operation.',
  },
  too_many_aliases: {
    status: 400,
    title: 'The GraphQL operation has too many aliases',
    meaning: 'The operation has more aliases than `limit` says, each use of a fragment counted.',
    fix: 'Split the operation.',
  },
  too_many_root_fields: {
    status: 400,
    title: 'The GraphQL operation has too many root fields',
    meaning: 'The operation has more root fields than `limit` says.',
    fix: 'Split the operation.',
  },
  too_many_tokens: {
    status: 400,
    title: 'The GraphQL document has too many tokens',
    meaning: 'The document has more tokens than `limit` says.',
    fix: 'Split the document, or send its values as variables.',
  },
  too_many_directives: {
    status: 400,
    title: 'The GraphQL operation has too many directives',
    meaning: 'The operation has more directives than `limit` says, each use of a fragment counted.',
    fix: 'Split the operation.',
  },
  introspection_disabled: {
    status: 400,
    title: 'Introspection is disabled',
    meaning: 'The operation has `__schema` or `__type`, which this service refuses.',
    fix: 'Read the schema in the explorer.',
  },
  subscriptions_only: {
    status: 400,
    title: 'Only subscriptions are allowed over WebSocket',
    meaning:
      'A query, mutation or persisted operation was sent over WebSocket, where only subscriptions are allowed.',
    fix: 'Send it by POST.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    meaning: "The path or the resource doesn't exist.",
    fix: 'Check the address.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    meaning:
      "The path doesn't support the method; a GET of the data endpoint would run something other than a query.",
    fix: 'Use a method that the `Allow` header lists.',
  },
  request_timeout: {
    status: 408,
    title: 'The request did not arrive in time',
    meaning: "The request didn't arrive in time: it stalled, or took too long overall.",
    fix: 'Send it again.',
  },
  payload_too_large: {
    status: 413,
    title: 'The request body is too large',
    meaning: 'The body, also decoded, is over the limit.',
    fix: 'Send less.',
  },
  document_too_large: {
    status: 413,
    title: 'The GraphQL document is too large',
    meaning: 'The GraphQL document has more bytes than `limit` says.',
    fix: 'Send its values as variables, or split it.',
  },
  uri_too_long: {
    status: 414,
    title: 'The request target is too long',
    meaning: 'The request target is too long (`MAX_URL_BYTES`).',
    fix: 'Send the GraphQL query by POST.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    meaning: "The endpoint doesn't accept this content type or coding.",
    fix: 'Send `application/json`, or what `Accept` or `Accept-Encoding` of the response lists.',
  },
  too_many_requests: {
    status: 429,
    title: 'Too many requests',
    meaning: 'Too many WebSockets, messages or unfinished bodies; attempts, mails or introspections.',
    fix: 'Retry after `Retry-After` seconds.',
  },
  header_fields_too_large: {
    status: 431,
    title: 'The request header fields are too large',
    meaning: "The request's head is too large (`MAX_HEADER_BYTES`, `MAX_HEADER_COUNT`).",
    fix: 'Send fewer or shorter header fields.',
  },
  http_version_not_supported: {
    status: 505,
    title: 'Only HTTP/1.1 and HTTP/1.0 are supported',
    meaning: 'The request names a version of HTTP above 1.1.',
    fix: 'Send HTTP/1.1, or let a load balancer take HTTP/2.',
  },
} as const satisfies Chapter;

const AVAILABILITY = {
  internal_error: {
    status: 500,
    title: 'Internal error',
    meaning: 'A bug in this service.',
    fix: 'Contact support with the request ID.',
  },
  upstream_unreachable: {
    status: 502,
    title: 'The data API could not be reached',
    meaning: "The data API couldn't be reached; the call cost nothing.",
    fix: 'Retry.',
  },
  service_unavailable: {
    status: 503,
    title: 'Temporarily unavailable',
    meaning: 'A part of this service is unavailable.',
    fix: 'Retry after `Retry-After` seconds.',
  },
  upstream_timeout: {
    status: 504,
    title: 'The data API did not respond in time',
    meaning: "The data API didn't respond in time; the call cost nothing.",
    fix: 'Retry.',
  },
} as const satisfies Chapter;

const CONSOLE = {
  application_limit_reached: {
    status: 409,
    title: 'The account has reached its application limit',
    meaning: 'The account has the maximum number of applications, including revoked ones.',
    fix: 'Delete one.',
  },
  application_revoked: {
    status: 409,
    title: 'The application is revoked',
    meaning: "A revoked application can't get new tokens.",
    fix: 'Rotate its secret, which reactivates it.',
  },
  previous_secret_active: {
    status: 409,
    title: 'The previous secret is still valid',
    meaning: 'A secret was rotated, and the one before is valid until `previous_secret_expires_at`.',
    fix: 'Wait, or end the previous secret first.',
  },
  token_limit_reached: {
    status: 409,
    title: 'The token limit is reached',
    meaning:
      'The application has the maximum number of active manual tokens, or the team that of provisioning tokens.',
    fix: 'Revoke one.',
  },
  token_not_active: {
    status: 409,
    title: 'The token is expired or revoked',
    meaning: "An expired or revoked token can't be copied.",
    fix: 'Create a new one.',
  },
  already_in_team: {
    status: 409,
    title: 'The account is already in a team',
    meaning: "The account is in a team and can't create or join another.",
    fix: 'Leave the team first.',
  },
  already_member: {
    status: 409,
    title: 'The email address belongs to a member of the team',
    meaning: 'The invited address belongs to a member of the team.',
    fix: 'Nothing.',
  },
  invitation_pending: {
    status: 409,
    title: 'The email address already has an invitation',
    meaning: 'The address already has an invitation to the team.',
    fix: 'Withdraw it to send another.',
  },
  team_has_members: {
    status: 409,
    title: 'The team has members',
    meaning: "A manager can't leave while the team has other members.",
    fix: 'Hand the team over, or dissolve it.',
  },
  team_slots_limit_exceeded: {
    status: 409,
    title: 'The team has no free slots',
    meaning: "Members and pending invitations fill the slots of the manager's plan (`limit`).",
    fix: 'Withdraw an invitation, or upgrade.',
  },
  sign_in_expired: {
    status: 410,
    title: 'The sign-in has been used or has expired',
    meaning:
      'A sign-in by the identity provider is finished once, within ten minutes, in the browser that began it.',
    fix: 'Sign in again.',
  },
  sso_not_available: {
    status: 404,
    title: 'No single sign-on for this email address',
    meaning: 'No team with an identity provider has proven the domain of the email address.',
    fix: 'Sign in with your password, or ask the manager of your team.',
  },
  sso_sign_in_failed: {
    status: 400,
    title: 'The answer of the identity provider was not accepted',
    meaning: 'The team’s identity provider has refused, or its answer isn’t valid for this sign-in.',
    fix: 'Sign in again. The manager of the team sees the reason on the Team page.',
  },
  sso_not_allowed: {
    status: 403,
    title: 'Single sign-on does not let this person in',
    meaning:
      'The identity provider knows the person, but sends no address, one that it hasn’t verified, or one outside of the team’s domains.',
    fix: 'Ask the manager of the team.',
  },
  sso_link_required: {
    status: 409,
    title: 'The email address has an account already',
    meaning: 'Single sign-on isn’t linked to the account yet; `email` is its address.',
    fix: 'Sign in to the account with its password or passkey, then by single sign-on within 15 minutes.',
  },
  sso_enforced: {
    status: 409,
    title: 'The team requires single sign-on',
    meaning: 'The identity provider can’t be exchanged while members can sign in by nothing else.',
    fix: 'Stop requiring single sign-on first.',
  },
  sso_session_required: {
    status: 409,
    title: 'The session must have begun by single sign-on',
    meaning: 'Single sign-on is required only by a manager who has signed in by it within 15 minutes.',
    fix: 'Sign in by single sign-on, then retry.',
  },
  sso_needs_second_factor: {
    status: 409,
    title: 'The manager needs a second factor',
    meaning:
      'The manager of a team that requires single sign-on is let in without it, so only with a second factor.',
    fix: 'Set up an authenticator app or a passkey.',
  },
  identity_provider_unavailable: {
    status: 503,
    title: 'The identity provider is unavailable',
    meaning: 'The identity provider of a team, or that of the operators’ console, doesn’t answer.',
    fix: 'Operators who have a passkey, and managers of teams, can sign in without it. Others try again later.',
  },
  webhook_limit_reached: {
    status: 409,
    title: 'The account has reached its webhook limit',
    meaning: 'The account has the maximum number of webhooks.',
    fix: 'Delete one.',
  },
  webhook_disabled: {
    status: 409,
    title: 'The webhook is disabled',
    meaning: "A disabled webhook can't be tested or retried.",
    fix: 'Enable it first.',
  },
  totp_enabled: {
    status: 409,
    title: 'The account already has an authenticator app',
    meaning: 'The account already has an authenticator app.',
    fix: 'Remove it first.',
  },
  second_factor_required: {
    status: 409,
    title: 'The account has a second factor',
    meaning: "The password alone can't confirm a session of an account with a second factor.",
    fix: 'Confirm with that factor.',
  },
  two_factor_disabled: {
    status: 409,
    title: 'Two-factor authentication is off',
    meaning: 'An account without a second factor has no recovery codes.',
    fix: 'Add an authenticator app or a passkey first.',
  },
  passkey_limit_reached: {
    status: 409,
    title: 'The account has reached its passkey limit',
    meaning: 'The account has 20 passkeys.',
    fix: 'Remove one.',
  },
  passkeys_unavailable: {
    status: 409,
    title: 'Passkeys are not available at this address',
    meaning: 'Passkeys need an address with a domain name and TLS, or localhost, and this one isn’t such.',
    fix: 'Use an authenticator app.',
  },
  plan_not_offered: {
    status: 409,
    title: 'The plan is not offered',
    meaning:
      "The plan isn't public, isn't offered for the interval, or has fewer team slots than are bought.",
    fix: 'Choose another plan, or contact sales.',
  },
  payments_unavailable: {
    status: 503,
    title: 'Payments are unavailable',
    meaning: "The payment provider cannot be reached. API calls and existing purchases aren't affected.",
    fix: 'Retry after `Retry-After`.',
  },
  pack_not_offered: {
    status: 409,
    title: 'The pack is not offered',
    meaning: "There is no such pack, or it isn't on sale any more.",
    fix: 'Choose another pack.',
  },
  no_payment_method: {
    status: 409,
    title: 'There is no saved payment method',
    meaning: 'The account has no card at the payment provider that can be charged.',
    fix: 'Add a card under Payment details, then try again.',
  },
  plan_has_no_points_limit: {
    status: 409,
    title: 'The plan has no points limit',
    meaning: "The plan doesn't limit points, so credits would never be used.",
  },
  plan_change_not_immediate: {
    status: 409,
    title: 'The plan can only change at the end of the billing period',
    meaning:
      'Only an upgrade can take effect now: no limit on points, time or traffic lower, and one higher.',
    fix: 'Change at the end of the period.',
  },
  overage_not_offered: {
    status: 409,
    title: 'The plan sells no further points',
    meaning: 'The plan of the billing period has no price for points beyond the included ones.',
    fix: 'Buy credits, or change to another plan.',
  },
  amount_changed: {
    status: 409,
    title: 'The amount has changed meanwhile',
    meaning: 'It costs another amount than the one that was confirmed. Nothing was charged.',
    fix: 'Load the price again, and confirm it.',
  },
  subscription_changed: {
    status: 409,
    title: 'The subscription has changed meanwhile',
    meaning: 'Another billing period has started since the preview, by a renewal or in another tab.',
    fix: 'Load the preview again.',
  },
  edit_conflict: {
    status: 409,
    title: 'The settings were changed elsewhere meanwhile',
    meaning: 'The alert settings were changed elsewhere since you read them.',
    fix: 'Read them again.',
  },
} as const satisfies Chapter;

const OPERATORS = {
  changed_meanwhile: {
    status: 409,
    title: 'What was compared has changed meanwhile',
    meaning:
      'Plans as code: products, plans or packs aren’t as they were when the file was compared with them. An application to verify isn’t as you have read it.',
    fix: 'Compare or read it again, then apply or verify it.',
  },
  allowance_required: {
    status: 409,
    title: 'A change has to be allowed by itself',
    meaning:
      'Plans as code: the file removes a limit or changes a price, and `allow` doesn’t have it; `needs` says what.',
    fix: 'If it is meant, allow it.',
  },
  name_taken: {
    status: 409,
    title: 'The name is already in use',
    meaning: 'A plan or product already has the name.',
  },
  last_admin: {
    status: 409,
    title: 'The last admin cannot be removed',
    meaning: "The operator is the last admin who has a passkey for the operators' console.",
    fix: 'Create another admin, who then creates a passkey.',
  },
  second_operator_required: {
    status: 409,
    title: 'A second operator must confirm it',
    meaning:
      '`FOUR_EYES` has it confirmed by a second operator, which a credential can’t ask for. Or the console was asked to remove the last one who could confirm.',
    fix: "Do it in the operators' console, or list the credential in `FOUR_EYES_EXEMPT`. Remove the last second operator by the command.",
  },
  own_act: {
    status: 403,
    title: 'Someone else must confirm it',
    meaning: 'The operator has asked for it, or may be the one who has: by the address, or as none is known.',
    fix: 'Ask another operator.',
  },
  act_outdated: {
    status: 409,
    title: 'The account has changed since',
    meaning: 'What waits for a second operator was asked for before the account changed.',
    fix: 'Look at the account, and ask for it again.',
  },
  operator_enrolled: {
    status: 409,
    title: 'The operator has a passkey already',
    meaning: 'An enrolment link is for an operator without a passkey.',
    fix: 'If the passkey is lost, remove the operator and create them again.',
  },
  local_operators_off: {
    status: 409,
    title: 'Operators cannot sign in with passkeys',
    meaning: '`OPERATORS_URL` is not set, or `OPERATORS_LOCAL` is `false`.',
    fix: 'Change the setting.',
  },
  view_forbidden: {
    status: 403,
    title: 'The customer does not allow it',
    meaning:
      "The customer, or the manager of their team, doesn't allow operators to see the console as they do.",
    fix: 'Ask the customer. An admin can override it, which is mailed to the customer.',
  },
  view_ended: {
    status: 403,
    title: 'The view has ended',
    meaning:
      'Viewing as a customer ends after 15 minutes, with the session, or when the customer forbids it.',
    fix: 'Begin another one.',
  },
  read_only: {
    status: 403,
    title: 'Nothing can be changed while viewing as a customer',
    meaning: 'An operator who views as a customer reads a fixed list of what their console shows.',
    fix: "Use the operators' console for changes.",
  },
  link_expired: {
    status: 410,
    title: 'The link has been used or has expired',
    meaning: 'A link for an operator works once and for minutes.',
    fix: 'Ask for another one.',
  },
  operator_sign_in_failed: {
    status: 400,
    title: 'The identity provider’s answer was not accepted',
    meaning: 'The identity provider has refused, or its answer isn’t valid for this sign-in.',
    fix: 'Sign in again. The log of account says why.',
  },
  no_operator_role: {
    status: 403,
    title: 'No role for this operator',
    meaning: 'None of the groups that the identity provider has sent is in `OPERATORS_OIDC_GROUPS`.',
    fix: 'Add the operator to a group there, or the group to the setting.',
  },
  email_taken: {
    status: 409,
    title: 'The email address already has an account',
    meaning: 'An account already has the email address.',
  },
  plan_archived: {
    status: 409,
    title: 'The plan is archived',
    meaning: "An archived plan can't be assigned.",
  },
  periods_overlap: {
    status: 409,
    title: 'The billing period overlaps another one',
    meaning: 'Billing periods of one account would overlap.',
  },
  period_not_active: {
    status: 409,
    title: 'The billing period is not active',
    meaning: "A period that doesn't cover the present can't be ended.",
  },
  period_started: {
    status: 409,
    title: 'The billing period has started',
    meaning: "A period that has started can't be removed.",
  },
  subscription_exists: {
    status: 409,
    title: 'The account already has a subscription',
    meaning: 'The account already has a subscription, or the period belongs to one.',
  },
  subscription_ended: {
    status: 409,
    title: 'The subscription has ended',
    meaning: "An ended subscription can't be changed.",
  },
  idempotency_conflict: {
    status: 409,
    title: 'The idempotency key was used for another request',
    meaning: 'The `Idempotency-Key` was used for a request with other content.',
    fix: 'Use a new key for each grant.',
  },
  credits_not_transferable: {
    status: 409,
    title: 'The credits cannot be transferred',
    meaning: 'Only points that were bought can be transferred, and only while some are left and not voided.',
    fix: 'Void the grant, and grant points to the other account.',
  },
  total_too_large: {
    status: 409,
    title: 'The account would have too many points',
    meaning: "What is left of the account's grants and its included points would exceed 2^53 - 1.",
  },
  usage_not_readable: {
    status: 409,
    title: 'The usage contains no usage event',
    meaning: 'The unassigned usage contains no usage event that can be counted.',
  },
  usage_total_too_large: {
    status: 409,
    title: 'A total of the billing period would be too large',
    meaning: 'Counting it would raise a total of the period above 2^53 - 1; choose another period.',
  },
  usage_rows_dropped: {
    status: 409,
    title: 'Hourly usage of the billing period has been deleted',
    meaning:
      "Totals can't be rebuilt because hourly rows were dropped (`USAGE_RETENTION_MONTHS`); they stay as they are.",
  },
} as const satisfies Chapter;

/** All codes of problems, by the chapters of docs/errors.md, which is generated from them (`npm run references`). */
export const ERROR_CHAPTERS = {
  access: ACCESS,
  'plan-and-limits': PLAN_AND_LIMITS,
  requests: REQUESTS,
  availability: AVAILABILITY,
  console: CONSOLE,
  operators: OPERATORS,
} as const;

export const ERROR_CODES = {
  ...ACCESS,
  ...PLAN_AND_LIMITS,
  ...REQUESTS,
  ...AVAILABILITY,
  ...CONSOLE,
  ...OPERATORS,
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;
