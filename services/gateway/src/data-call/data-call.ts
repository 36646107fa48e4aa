import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Logger } from '@tollgate/log';
import { newRequestId } from '@tollgate/log/request-id';
import { toProblem } from '@tollgate/problem';
import type { ErrorCode } from '@tollgate/contracts/error-codes';
import type { ForwardOutcome } from '../forward/answer-relay.ts';
import type { Forward } from '../forward/forward.ts';
import { discardRest } from '../forward/request-body.ts';
import type { Admit } from './admit.ts';
import type { Authenticate } from './authenticate.ts';
import { assertDataRequest } from './data-request.ts';
import type { Entitle } from './entitle.ts';
import { createFailureLog } from './failure-log.ts';
import { sendRefusal } from './refusal.ts';
import type { Settle } from './settle.ts';

/** How a data call ended: as its answer did, or by the code of the problem that it was refused with. */
export type DataCallOutcome = ForwardOutcome | ErrorCode;

export type DataCallParts = {
  authenticate: Authenticate;
  entitle: Entitle;
  admit: Admit;
  forward: Forward;
  settle: Settle;
  logger: Logger;
  /** Told of each call's begin; what it returns is told of the end. */
  onCall: () => (outcome: DataCallOutcome) => void;
};

/**
 * The data endpoint, `POST` and `GET /graphql`: authenticate → entitle → admit → forward → settle. On plain
 * node:http, because express alone would cost a quarter of the throughput. A call gets a new request id,
 * which is returned as X-Request-Id, also when it is refused.
 */
export function createDataEndpoint(parts: DataCallParts): RequestListener {
  const { authenticate, entitle, admit, forward, settle, logger, onCall } = parts;
  const logFailure = createFailureLog(logger);

  async function serve(
    req: IncomingMessage,
    res: ServerResponse,
    requestId: string,
  ): Promise<ForwardOutcome> {
    assertDataRequest(req);
    const token = await authenticate(req.rawHeaders, requestId);
    const charge = await entitle(token.account_id, requestId);
    admit(charge.payerId);
    return forward({
      req,
      res,
      requestId,
      identity: {
        accountId: token.account_id,
        payerId: charge.payerId,
        applicationId: token.application_id,
      },
      billingStatus: charge.billingStatus,
      settle: (usage) => {
        settle(token, charge, usage);
      },
    });
  }

  function refuse(req: IncomingMessage, res: ServerResponse, requestId: string, error: unknown): ErrorCode {
    const problem = toProblem(error);
    if (problem.status >= 500) logFailure(requestId, problem);
    sendRefusal(req, res, problem, requestId);
    return problem.code;
  }

  return (req, res) => {
    const requestId = newRequestId();
    const ended = onCall();
    serve(req, res, requestId)
      .catch((error: unknown) => refuse(req, res, requestId, error))
      .then((outcome) => {
        ended(outcome);
        discardRest(req);
        // A line per call would be the pipeline's largest cost: only where someone is looking.
        logger.debug({ request_id: requestId, outcome }, 'data call');
      })
      .catch((error: unknown) => {
        logger.error({ request_id: requestId, err: error }, 'a call ended without an answer');
        res.destroy();
      });
  };
}
