import { hash } from 'node:crypto';
import { durationBucket } from '@tollgate/contracts/durations';
import type { OperationDocument, UsageEvent, UsedOperation } from '@tollgate/contracts/usage-stream';
import type { SampleCaller } from './sample-usage.ts';

/** Of the calls of an hour; what is missing to 1 has no known operation. */
type SampleOperation = { name: string; document: string; points: number; requests: number; usualMs: number };

const COUNTRY = {
  name: 'Country',
  document:
    'query Country($code: ID!) {\n  country(code: $code) {\n    name\n    capital\n    languages {\n      name\n    }\n  }\n}',
  usualMs: 18,
};

const BY_LANGUAGE = {
  name: 'CountriesByLanguage',
  document:
    'query CountriesByLanguage($first: Int!) {\n  countries(filter: {}, first: $first) {\n    name\n    capital\n  }\n}',
  usualMs: 45,
};

const WORLD = {
  name: 'World',
  document:
    'query World {\n  continents {\n    name\n    countries(first: 0) {\n      name\n      languages {\n        native\n      }\n    }\n  }\n}',
  usualMs: 210,
};

/** Documents as gateways keep them, without literals (docs/design/counting.md). */
const OPERATIONS: Record<SampleCaller['rhythm'], readonly SampleOperation[]> = {
  backend: [
    { ...COUNTRY, points: 0.31, requests: 0.72 },
    { ...BY_LANGUAGE, points: 0.62, requests: 0.21 },
  ],
  people: [
    { ...COUNTRY, points: 0.55, requests: 0.8 },
    { ...BY_LANGUAGE, points: 0.4, requests: 0.15 },
  ],
  nightly: [{ ...WORLD, points: 0.97, requests: 0.9 }],
};

const ERROR_SHARE = 0.004;

/** Times of the usual duration that requests take, and the share of requests that take it. */
const SPREAD = [
  [1, 0.6],
  [1.6, 0.32],
  [4, 0.08],
] as const;

export const SAMPLE_DOCUMENTS: readonly OperationDocument[] = [COUNTRY, BY_LANGUAGE, WORLD].map(
  ({ document }) => ({ hash: hash('sha256', document), text: document }),
);

/** What such an application's usage of an hour was used for. */
export function sampleOperations(
  rhythm: SampleCaller['rhythm'],
  usage: Pick<UsageEvent, 'points' | 'requests'>,
): UsedOperation[] {
  return OPERATIONS[rhythm].map(({ name, document, points, requests, usualMs }) => {
    const calls = Math.floor(usage.requests * requests);
    return {
      hash: hash('sha256', document),
      name,
      points: Math.floor(usage.points * points),
      requests: calls,
      errors: Math.floor(calls * ERROR_SHARE),
      durations: SPREAD.map(([factor, share]): [number, number] => [
        durationBucket(usualMs * factor),
        Math.floor(calls * share),
      ]).filter(([, counted]) => counted > 0),
    };
  });
}
