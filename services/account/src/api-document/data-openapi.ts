import { z } from 'zod';
import { ERROR_CODES } from '@tollgate/contracts/error-codes';
import type { ErrorCode } from '@tollgate/contracts/error-codes';
import type { Answer, ApiChapter, Description } from '@tollgate/contracts/api-description';

const JSON_TYPES = ['application/json', 'application/graphql-response+json'];

const graphqlRequestSchema = z
  .looseObject({
    query: z.string().optional(),
    operationName: z.string().nullable().optional(),
    variables: z.record(z.string(), z.unknown()).nullable().optional(),
    extensions: z.record(z.string(), z.unknown()).nullable().optional(),
  })
  .meta({ id: 'GraphQLRequest' });

const graphqlAnswerSchema = z
  .looseObject({
    data: z.unknown().optional(),
    errors: z.array(z.looseObject({ message: z.string() })).optional(),
    extensions: z.unknown().optional(),
  })
  .meta({ id: 'GraphQLAnswer' });

const refusalSchema = z
  .object({
    errors: z
      .array(
        z.object({
          message: z.string(),
          extensions: z.looseObject({
            code: z.string(),
            request_id: z.string(),
            limit: z.int().optional().meta({ description: "The limit, or the budget's points." }),
            remaining: z.int().optional().meta({ description: 'What is left of the limit.' }),
            retry_after_sec: z.int().optional(),
            period_ended_at: z.string().optional(),
            credits_remaining: z.int().optional().meta({
              description: 'With `points_limit_exceeded`: 0, because bought points are used up, too.',
            }),
            budget: z.enum(['application', 'member']).optional().meta({
              description: 'With `budget_exceeded`: whose budget is used up.',
            }),
            window: z.enum(['day', 'period']).optional().meta({
              description: 'With `budget_exceeded`: per UTC day, or per billing period.',
            }),
            resets_at: z.iso.datetime().optional().meta({
              description: 'With `budget_exceeded`: when the budget resets.',
            }),
            buy_url: z.string().optional().meta({
              description: 'With `points_limit_exceeded`: where the payer can buy points, if they are sold.',
            }),
            estimate: z.int().optional().meta({
              description: 'What the operation would cost at most, where that is why it is refused.',
            }),
            fields: z
              .array(z.object({ path: z.array(z.string()), points: z.number() }))
              .optional()
              .meta({ description: 'With `call_too_expensive`: the fields that cost most.' }),
            help_url: z.string().optional().meta({
              description: 'Where to fix it, relative to the address of the gateway.',
            }),
          }),
        }),
      )
      .length(1),
  })
  .meta({ id: 'GraphQLRefusal', description: 'A refusal by Tollgate.' });

/** The data API can respond with the same statuses. */
const refusedSchema = z.union([refusalSchema, graphqlAnswerSchema]).meta({
  id: 'GraphQLRefusedAnswer',
  description:
    "From Tollgate if the error's `extensions` contain a `request_id`, otherwise from the data API.",
});

const REFUSALS: readonly ErrorCode[] = [
  'unauthorized',
  'no_active_billing_period',
  'points_limit_exceeded',
  'budget_exceeded',
  'time_limit_exceeded',
  'traffic_limit_exceeded',
  'account_blocked',
  'forbidden',
  'method_not_allowed',
  'payload_too_large',
  'unsupported_media_type',
  'points_reserved',
  'rate_limit_exceeded',
  'session_limit_exceeded',
  'subscription_limit_exceeded',
  'too_many_streams',
  'internal_error',
  'upstream_unreachable',
  'service_unavailable',
  'upstream_timeout',
];

function refusal(codes: readonly ErrorCode[]): Answer {
  const [first = 'internal_error'] = codes;
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_CODES[code].title}.`).join(' '),
    schema: refusedSchema,
    contentTypes: JSON_TYPES,
    headers: { 'X-Points-Cost': 'What the call cost.' },
    example: {
      errors: [
        {
          message: ERROR_CODES[first].title,
          extensions: { code: first, request_id: '4b1f6c7e9a0d4e2f8c3b5a7d9e1f2a3b' },
        },
      ],
    },
  };
}

const refusals = Object.fromEntries(
  [...Map.groupBy(REFUSALS, (code) => ERROR_CODES[code].status)].map(([status, codes]) => [
    status,
    { name: `graphql.${codes.join('.')}`, ...refusal(codes) },
  ]),
);

const ANSWERS: Description['answers'] = {
  200: {
    description: "The data API's response, streamed.",
    schema: graphqlAnswerSchema,
    contentTypes: JSON_TYPES,
    headers: {
      'X-Points-Cost': 'What the call cost.',
      'X-Billing-Status': 'The `status` of `GET /api/usage`.',
    },
  },
  default: {
    description: 'Any other response of the data API.',
    headers: { 'X-Points-Cost': 'What the call cost.' },
  },
};

const estimateSchema = z
  .object({
    points: z.int().nullable().meta({ description: 'At most so many, if `bounded`; null without a price.' }),
    points_remaining: z.int().nullable().meta({ description: 'Null if points are not limited.' }),
    allowed: z.boolean().meta({ description: 'Whether the operation would be admitted now.' }),
    reason: z
      .string()
      .nullable()
      .meta({ description: 'The code that would refuse it; null if it is allowed.' }),
    bounded: z.boolean().meta({ description: 'False if the size of a list is not known.' }),
    fields: z
      .array(z.object({ path: z.array(z.string()), points: z.number() }))
      .meta({ description: 'The ten that cost most by themselves.' }),
  })
  .meta({ id: 'Estimate' });

const estimateAnswerSchema = z
  .object({ extensions: z.object({ estimate: estimateSchema }) })
  .meta({ id: 'EstimateAnswer' });

const ESTIMATED: Description['answers'] = {
  200: {
    description:
      'The price; of a batch, a list of them. For clients that accept only `application/json`, also `document_invalid`.',
    schema: z.union([estimateAnswerSchema, z.array(estimateAnswerSchema), graphqlAnswerSchema]),
    contentTypes: JSON_TYPES,
    headers: { 'X-Points-Cost': '0.', 'Cache-Control': '`no-store`.' },
  },
};

const costsSchema = z
  .object({
    weights: z.record(z.string(), z.number()).meta({
      description:
        'Points by schema coordinate: `User`, `Query.users`, `Query.users(filter:)`, `Filter.exact`, `@approx(by:)`. What is missing weighs nothing.',
    }),
    list_sizes: z
      .record(
        z.string(),
        z.object({
          slicing_arguments: z.array(z.string()).meta({ description: 'The largest of them is the size.' }),
          assumed_size: z.int().nullable().meta({ description: 'The size without them.' }),
          sized_fields: z.array(z.string()).meta({
            description: 'The lists below the field that have the size, instead of the field itself.',
          }),
        }),
      )
      .meta({ description: 'How many items the lists of a field have, by its schema coordinate.' }),
    list_size: z.int().meta({ description: 'Items of a list whose size nothing tells.' }),
  })
  .meta({ id: 'SchemaCosts' });

function costs(operationId: string, summary: string, of: string): Description {
  return {
    operationId,
    summary,
    description: `${of}What the types, fields and arguments of the schema weigh, from which estimates follow. It is free, and takes from the rate of estimates. \`not_found\` where prices are not known in advance.`,
    caller: 'token',
    answers: {
      200: {
        description: 'The costs.',
        schema: costsSchema,
        headers: { 'X-Points-Cost': '0.', 'Cache-Control': '`no-store`.' },
      },
    },
    errors: {
      401: refusal(['unauthorized']),
      404: refusal(['not_found']),
      405: refusal(['method_not_allowed']),
      429: refusal(['too_many_requests']),
      500: refusal(['internal_error']),
      503: refusal(['service_unavailable']),
    },
  };
}

const ERRORS: Description['answers'] = {
  400: refusal([
    'invalid_request',
    'batch_too_large',
    'document_invalid',
    'document_unknown',
    'document_not_trusted',
    'persisted_query_mismatch',
    'call_too_expensive',
    'price_unknown',
    'document_too_deep',
    'too_many_aliases',
    'too_many_root_fields',
    'too_many_tokens',
    'too_many_directives',
    'introspection_disabled',
  ]),
  ...refusals,
};

const graphqlQuerySchema = z.object({
  query: z.string(),
  operationName: z.string().optional(),
  variables: z.string().optional().meta({ description: 'As JSON.' }),
  extensions: z.string().optional().meta({ description: 'As JSON.' }),
});

const EXAMPLE = { query: '{ country(code: "JP") { name capital } }' };

const METERED =
  'Accepts GraphQL over HTTP. The call is metered and held to the limits of the plan: `RateLimit` and ' +
  '`RateLimit-Policy` show the rate limit, `X-Points-Remaining` the points left in the billing period, and ' +
  '`X-Points-Estimate`, where prices are known in advance, what the call could cost at most. A refusal costs ' +
  'nothing and states the limit and when to retry. An error comes from Tollgate if its `extensions` contain a ' +
  '`request_id`, otherwise from the data API.';

const OF_V1 = 'API v1, if it is offered; otherwise `not_found`. Both versions share the points. ';

const ESTIMATES =
  'Takes what a call takes, and executes nothing: it is free, but limited by a rate of its own (429 ' +
  '`too_many_requests`). `not_found` where prices are not known in advance. A call with the header ' +
  '`X-Points-Estimate: only` is the same.';

function post(operationId: string, summary: string, description: string): Description {
  return {
    operationId,
    summary,
    description,
    caller: 'token',
    body: graphqlRequestSchema,
    example: EXAMPLE,
    answers: ANSWERS,
    errors: ERRORS,
  };
}

function get(operationId: string, summary: string, description: string): Description {
  return {
    operationId,
    summary,
    description,
    caller: 'token',
    query: graphqlQuerySchema,
    answers: ANSWERS,
    errors: ERRORS,
  };
}

function estimating(description: Description): Description {
  const errors = { ...ERRORS, 404: refusal(['not_found']), 429: refusal(['too_many_requests']) };
  return { ...description, answers: ESTIMATED, errors };
}

export const dataApi: ApiChapter = {
  title: 'Data API',
  description:
    'GraphQL over HTTP and WebSocket (`graphql-transport-ws` and `graphql-ws`). Open a WebSocket at the same paths, ' +
    'with the token in the Authorization header, in `?token=` or in the payload of `connection_init`.',
  operations: {
    'POST /graphql': post('callDataApi', 'Call the data API', METERED),
    'GET /graphql': get('queryDataApi', 'Call the data API by GET', METERED),
    'POST /v1/graphql': post('callDataApiV1', 'Call API v1 of the data API', OF_V1 + METERED),
    'GET /v1/graphql': get('queryDataApiV1', 'Call API v1 of the data API by GET', OF_V1 + METERED),
    'POST /graphql/estimate': estimating(post('estimateCall', 'Get the price of a call', ESTIMATES)),
    'GET /graphql/estimate': estimating(get('estimateQuery', 'Get the price of a call by GET', ESTIMATES)),
    'GET /graphql/costs': costs('schemaCosts', 'Get the costs in the schema', ''),
    'GET /v1/graphql/costs': costs('schemaCostsV1', 'Get the costs in the schema of API v1', OF_V1),
    'POST /v1/graphql/estimate': estimating(
      post('estimateCallV1', 'Get the price of a call of API v1', OF_V1 + ESTIMATES),
    ),
    'GET /v1/graphql/estimate': estimating(
      get('estimateQueryV1', 'Get the price of a call of API v1 by GET', OF_V1 + ESTIMATES),
    ),
  },
};
