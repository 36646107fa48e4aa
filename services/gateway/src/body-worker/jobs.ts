import { Problem } from '@tollgate/http/problem';
import type { ProblemOptions } from '@tollgate/http/problem';
import { DEAREST_FIELDS, createEstimates } from '../estimate/estimates.ts';
import type { Estimates } from '../estimate/estimates.ts';
import { loadSchemaTexts } from '../estimate/open-cost-schema.ts';
import { requestIn, textIn, withTextsPut } from '../operation-reader/json-request.ts';
import type { OperationPrice, SchemaTexts } from '../operation-reader/long-bodies.ts';
import { operationRequests } from '../operation-reader/operation-reader.ts';
import type { OperationRequest } from '../operation-reader/operation-reader.ts';
import { headOf } from '../operation-reader/request-head.ts';
import { putTexts } from '../operation-reader/stored-documents.ts';
import type { FoundTexts } from '../operation-reader/stored-documents.ts';

/** What a worker is asked. Each job has all that it needs, so that nothing is lost with a worker but its job. */
export type Job =
  | { kind: 'head'; body: Uint8Array; batchLimit: number }
  | { kind: 'withTexts'; body: Uint8Array; found: FoundTexts }
  | {
      kind: 'prices';
      body: Uint8Array;
      found: FoundTexts | null;
      batchLimit: number;
      apiVersion: 'v1' | 'v2';
      /** Null for the one that the worker has of this version. */
      schema: SchemaTexts | null;
    };

export type SentProblem = Pick<Problem, 'code'> & Pick<ProblemOptions, 'detail' | 'extensions'>;

type SentPrice = Omit<OperationPrice, 'unpriced'> & { unpriced: SentProblem | null };

/** What it answers, by the kind of job. */
export type Answers = {
  head: { request: unknown } | { problem: SentProblem };
  withTexts: Uint8Array<ArrayBuffer>;
  prices: readonly SentPrice[];
};

/** Runs the jobs of one worker, in order. */
export function createRunJob(): (job: Job) => Answers[Job['kind']] {
  const estimates = new Map<'v1' | 'v2', Estimates>();

  function estimatesOf({ apiVersion, schema: texts }: Extract<Job, { kind: 'prices' }>): Estimates {
    const known = estimates.get(apiVersion);
    if (texts === null && known !== undefined) return known;
    if (texts === null) throw new Error(`the worker has no schema of ${apiVersion}`);
    const { schema } = loadSchemaTexts(texts);
    const loaded = createEstimates({
      current: () => schema,
      texts: () => null,
      reload: () => Promise.resolve(),
    });
    estimates.set(apiVersion, loaded);
    return loaded;
  }

  return (job) => {
    switch (job.kind) {
      case 'head':
        return headIn(job);
      case 'withTexts':
        return new TextEncoder().encode(withTextsPut(textIn(job.body), job.found));
      case 'prices': {
        const sent = requestIn(textIn(job.body));
        const request = job.found === null ? sent : putTexts(sent, job.found);
        const all = estimatesOf(job);
        return operationRequests(request, job.batchLimit).map((each) => priceOf(all, each));
      }
    }
  };
}

function headIn({ body, batchLimit }: Extract<Job, { kind: 'head' }>): Answers['head'] {
  try {
    return { request: headOf(requestIn(textIn(body)), batchLimit) };
  } catch (error) {
    if (error instanceof Problem) return { problem: sentProblem(error) };
    throw error;
  }
}

function priceOf(estimates: Estimates, request: OperationRequest): SentPrice {
  const estimate = estimates.ofRequest(request);
  return estimate === null
    ? { estimate, dearest: [], unpriced: sentProblem(estimates.whyUnpriced(request)) }
    : { estimate, dearest: estimates.dearest(request, DEAREST_FIELDS), unpriced: null };
}

function sentProblem({ code, detail, extensions }: Problem): SentProblem {
  return { code, extensions, ...(detail === undefined ? {} : { detail }) };
}

export function receivedProblem({ code, ...options }: SentProblem): Problem {
  return new Problem(code, options);
}
