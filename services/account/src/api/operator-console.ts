import type { NeedsOf, Operation } from '@tollgate/operation';
import { createOpenApi } from '@tollgate/operation/api-document';
import type { ApiDocument } from '@tollgate/operation/api-document';
import { OPERATOR_CONSOLE_SECURITY } from '@tollgate/operation/security';
import { ACTS } from '../operators/four-eyes/acts.ts';
import { HELD } from '../operators/four-eyes/answers.ts';
import { pendingActs } from '../operators/four-eyes/operations.ts';
import { operatorOidc } from '../operators/oidc/operations.ts';
import { operatorSearch } from '../operators/search.ts';
import { operatorViews } from '../operators/view-as/operations.ts';
import { operatorSessions, operatorSignIn } from '../operators/sign-in.ts';
import { OPERATOR_API } from './operator.ts';
import type { OperatorNeeds } from './operator.ts';

/** Hands out what signs in, or a token that can be read again: for a credential on the private listener only. */
const NOT_IN_CONSOLE = new Set([
  'createOperator',
  'createOperatorEnrolmentLink',
  'createOperatorSignInLink',
  'copyToken',
  'getTemporaryToken',
]);

const known = OPERATOR_API.flatMap(({ operations }) =>
  operations.map(({ operationId }): string => operationId),
);
const unknown = [...NOT_IN_CONSOLE].filter((name) => !known.includes(name));
if (unknown.length > 0) throw new Error(`the operators' API has no ${unknown.join()}`);

const operatorPendingActs = pendingActs(
  OPERATOR_API.flatMap(({ operations }) => operations as readonly Operation<OperatorNeeds>[]),
);

/** The same operations that a credential may call, with the same roles and handlers, for a session. */
const OPERATED = OPERATOR_API.map((chapter) => ({
  title: chapter.title,
  description: chapter.description,
  operations: (chapter.operations as readonly Operation<OperatorNeeds>[])
    .filter(({ operationId }) => !NOT_IN_CONSOLE.has(operationId))
    .map((operation) => ({
      ...operation,
      answers: operation.operationId in ACTS ? { ...operation.answers, 202: HELD } : operation.answers,
      path: operation.path.replace(/^\/private\//, '/operator/api/'),
      problems: [
        ...(operation.problems ?? []),
        ...(operation.method === 'GET' ? [] : (['csrf_token_required', 'forbidden'] as const)),
      ],
    })),
}));

/** What the operators' console calls, on the private listener below /operator/api, in reading order. */
export const OPERATOR_CONSOLE_API = [
  operatorSignIn,
  operatorOidc,
  operatorSessions,
  operatorSearch,
  operatorViews,
  operatorPendingActs,
  ...OPERATED,
];

/** What the handlers need of the service. */
export type OperatorConsoleNeeds = NeedsOf<
  [
    typeof operatorSignIn,
    typeof operatorOidc,
    typeof operatorSessions,
    typeof operatorSearch,
    typeof operatorViews,
    typeof operatorPendingActs,
  ]
> &
  OperatorNeeds;

const DESCRIPTION = `What the operators' console calls, below \`/operator/api\` on account's private listener: the
operations of the operators' API, with the same roles, for someone who has signed in. Credentials of
\`OPERATOR_CREDENTIALS\` are not accepted here, and a session isn't below \`/private\`.

Send the \`csrf_token\` of \`GET /operator/api/session\` in \`X-CSRF-Token\` with every request other than GET. Errors
are problem+json (RFC 9457) with a \`code\`.`;

/** Of the operators' console. */
export function createOperatorConsoleDocument(): ApiDocument {
  return createOpenApi(OPERATOR_CONSOLE_API, {
    title: "Tollgate's console for operators",
    description: DESCRIPTION,
    serverUrl: '/',
    securitySchemes: OPERATOR_CONSOLE_SECURITY,
  });
}
