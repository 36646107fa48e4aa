import { ERROR_CODES } from '@tollgate/contracts/error-codes';
import type { ErrorCode } from '@tollgate/contracts/error-codes';
import { Problem, problemDocument } from '@tollgate/http/problem';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { z } from 'zod';
import type { Described } from '../operation.ts';
import { problemHeaders } from './headers.ts';

/** RFC 9457 with Tollgate's members. Some codes have members of their own. */
export const problemSchema = z
  .looseObject({
    type: z.string().meta({ description: '`urn:tollgate:problem:` and the code.' }),
    title: z.string(),
    status: z.int().min(400).max(599),
    detail: z.string().optional().meta({ description: 'What is wrong with this request.' }),
    code: z.string().meta({ description: 'The error code. Branch on this.' }),
    request_id: z.string().meta({ description: 'The ID of the request in the logs.' }),
    errors: z
      .array(
        z.object({
          field: z.string().meta({ description: 'Path of the field; empty for the body as a whole.' }),
          message: z.string().meta({ description: 'What the value must be.' }),
        }),
      )
      .optional()
      .meta({ description: 'All invalid fields.' }),
  })
  .meta({ description: 'An error (RFC 9457).' });

/** Refused before the path is known, so always problem+json. */
const OF_HEADS: readonly ErrorCode[] = [
  'invalid_request',
  'request_timeout',
  'uri_too_long',
  'header_fields_too_large',
  'http_version_not_supported',
];

const OF_ALL: readonly ErrorCode[] = [...OF_HEADS, 'internal_error', 'service_unavailable'];

const PRIVATE_CALLERS = new Set(['operator', 'service', 'reporter']);

/** Codes of an operation: its own, and those that follow from its caller and input. */
function codesOf(operation: Described): readonly ErrorCode[] {
  const { method, caller, roles = [], params, body, form, problems = [], errors } = operation;
  if (errors !== undefined) return OF_HEADS;
  const isUnsafe = method !== 'GET';
  const isSession = caller === 'session' || caller === 'closing-session' || caller === 'operator-session';
  // Another origin's page, and a body that a form could send (account's same-origin.ts).
  const isConsole = isUnsafe && !PRIVATE_CALLERS.has(caller);
  return [
    ...problems,
    ...(caller === 'anyone' ? [] : (['unauthorized'] as const)),
    ...(caller === 'session' ? (['account_deletion_pending', 'sso_required'] as const) : []),
    ...(caller === 'operator' && !roles.includes('viewer') ? (['insufficient_role'] as const) : []),
    ...(isSession && isUnsafe ? (['csrf_token_required'] as const) : []),
    ...(isConsole ? (['forbidden', 'unsupported_media_type'] as const) : []),
    ...(body === undefined && form === undefined
      ? []
      : (['payload_too_large', 'unsupported_media_type'] as const)),
    ...(params === undefined ? [] : (['not_found'] as const)),
    ...OF_ALL,
  ];
}

/** Equal problem+json responses are one object, so that the document contains each once, in `components`. */
export function createProblemAnswers() {
  const made = new Map<string, ZodOpenApiResponseObject>();

  function answerOf(status: number, codes: readonly ErrorCode[]): ZodOpenApiResponseObject {
    const id = codes.join('.');
    const answer = made.get(id) ?? { id, ...problemAnswer(status, codes) };
    made.set(id, answer);
    return answer;
  }

  return (operation: Described): Record<string, ZodOpenApiResponseObject> => {
    const codes = codesOf(operation).toSorted();
    const byStatus = Map.groupBy(new Set(codes), (code) => ERROR_CODES[code].status);
    return Object.fromEntries(
      [...byStatus].map(([status, ofStatus]) => [status, answerOf(status, ofStatus)]),
    );
  };
}

function problemAnswer(status: number, codes: readonly ErrorCode[]): ZodOpenApiResponseObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_CODES[code].title}.`).join(' '),
    headers: problemHeaders(status),
    content: {
      'application/problem+json': {
        // One schema for all, so that generated clients have one error type.
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }])),
      },
    },
  };
}

function exampleOf(code: ErrorCode): object {
  return problemDocument(new Problem(code), '4b1f6c7e9a0d4e2f8c3b5a7d9e1f2a3b');
}
