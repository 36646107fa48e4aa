import { z } from 'zod';
import type { PlanLimits } from '@tollgate/contracts/plan-limits';
import { ok, problem, skipped, warning } from '@tollgate/contracts/health-findings/finding';
import type { Finding } from '@tollgate/contracts/health-findings/finding';
import type { StatedVersion } from '@tollgate/contracts/health-findings/versions';

const liveSchema = z.object({ version: z.string().optional() });

const STREAMS_PER_PAYER = /^tollgate_upstream_streams_per_payer_max(?:\{.*\})? (\d+)$/m;

/** Asks each gateway's private listener whether it lives and is ready, and how many streams it holds for a payer. */
export async function checkGateways(
  urls: readonly string[],
  timeoutMs: number,
): Promise<{ findings: Finding[]; versions: StatedVersion[]; streamsPerPayer: number[] }> {
  if (urls.length === 0) {
    const finding = 'No gateway was checked: name their private listeners with --gateway-url.';
    return { findings: [skipped('gateways', finding)], versions: [], streamsPerPayer: [] };
  }
  const asked = await Promise.all(urls.map((url) => askGateway(url, timeoutMs)));
  return {
    findings: asked.flatMap(({ findings }) => findings),
    versions: asked.flatMap(({ stated }) => (stated === undefined ? [] : [stated])),
    streamsPerPayer: asked.flatMap(({ streamsPerPayer }) => streamsPerPayer ?? []),
  };
}

async function askGateway(
  url: string,
  timeoutMs: number,
): Promise<{ findings: Finding[]; stated?: StatedVersion; streamsPerPayer?: number[] }> {
  const check = 'gateways';
  const ask = (path: string) => fetch(`${url}${path}`, { signal: AbortSignal.timeout(timeoutMs) });
  try {
    const [live, ready, metrics] = await Promise.all([
      ask('/health/live'),
      ask('/health/ready'),
      ask('/metrics'),
    ]);
    const samples = await metrics.text();
    const [, perPayer] = STREAMS_PER_PAYER.exec(samples) ?? [];
    const streamsPerPayer = perPayer === undefined ? [] : [Number(perPayer)];
    const stated = [`gateway ${url}`, liveSchema.parse(await live.json()).version ?? null] as const;
    return ready.ok
      ? {
          findings: [
            ok(check, `${url} is ready.`),
            ...checkSchemas(url, samples),
            ...checkDocuments(url, samples),
            ...checkReading(url, samples),
          ],
          stated,
          streamsPerPayer,
        }
      : {
          findings: [problem(check, `${url} is not ready.`, `See ${url}/health/ready and its log.`)],
          stated,
        };
  } catch {
    return {
      findings: [problem(check, `${url} can't be reached.`, 'Start the gateway, or correct --gateway-url.')],
    };
  }
}

const SCHEMA_AGE = /^tollgate_schema_age_seconds\{.*api_version="(v\d)".*\} (\S+)$/gm;
const DOCUMENTS_AGE = /^tollgate_documents_age_seconds\{.*api_version="(v\d)".*\} (\S+)$/gm;
const UNKNOWN_COSTS = /^tollgate_schema_unknown_costs\{.*api_version="(v\d)".*\} (\d+)$/gm;

/** Gateways read their files every 30 s. */
const MAX_AGE_SEC = 120;

/** Whether the schemas by which calls are priced are current, and have all that the files of weights name. */
function checkSchemas(url: string, samples: string): Finding[] {
  const check = 'graphql-schema';
  const stale = olderThanMax(samples, SCHEMA_AGE).map(({ apiVersion, ageSec }) =>
    problem(
      check,
      `${url} couldn't read the GraphQL schema of API ${apiVersion} for ${ageSec} s.`,
      'Its log says what is wrong with GRAPHQL_SCHEMA or GRAPHQL_COSTS (GRAPHQL_V1_… for API v1).',
    ),
  );
  const unknown = [...samples.matchAll(UNKNOWN_COSTS)].flatMap(([, apiVersion = '', count = '0']) =>
    count === '0'
      ? []
      : warning(
          check,
          `The weights that ${url} uses for API ${apiVersion} have ${count} names that the schema lacks.`,
          'Correct the file of weights: the log of the gateway lists the names.',
        ),
  );
  return [...stale, ...unknown];
}

/** Whether the documents that callers may name are current. */
function checkDocuments(url: string, samples: string): Finding[] {
  return olderThanMax(samples, DOCUMENTS_AGE).map(({ apiVersion, ageSec }) =>
    problem(
      'graphql-documents',
      `${url} couldn't read the GraphQL documents of API ${apiVersion} for ${ageSec} s.`,
      'Its log says what is wrong with GRAPHQL_DOCUMENTS (GRAPHQL_V1_DOCUMENTS for API v1).',
    ),
  );
}

/** Whether what plans and settings say of single calls holds. */
function checkReading(url: string, samples: string): Finding[] {
  if (!/^tollgate_graphql_read(?:\{.*\})? 0$/m.test(samples)) return [];
  return [
    warning(
      'graphql-read',
      `${url} forwards calls unread: no guards, estimates, limits per call or strict points hold.`,
      'Set GRAPHQL_READ=on, unless that is what you want.',
    ),
  ];
}

function olderThanMax(samples: string, age: RegExp): { apiVersion: string; ageSec: string }[] {
  return [...samples.matchAll(age)]
    .filter(([, , value]) => Number(value) > MAX_AGE_SEC)
    .map(([, apiVersion = '', value]) => ({ apiVersion, ageSec: String(Math.round(Number(value))) }));
}

/** Whether a payer can open as many subscriptions over HTTP as plans allow (docs/design/forwarding.md). */
export function checkStreams(planLimits: PlanLimits | null, streamsPerPayer: readonly number[]): Finding {
  const check = 'streams';
  const allowed = planLimits?.subscription_limit ?? 0;
  if (planLimits === null || streamsPerPayer.length === 0) {
    return skipped(check, 'No gateway stated how many streams it holds for a payer, or plans are unknown.');
  }
  const held = streamsPerPayer.reduce((sum, one) => sum + one, 0);
  if (allowed <= held) return ok(check, 'The gateways hold as many streams of a payer as plans allow.');
  return warning(
    check,
    `A plan allows ${String(allowed)} subscriptions, and the gateways hold ${String(held)} of a payer over HTTP.`,
    'Raise UPSTREAM_STREAMS_PER_PAYER and UPSTREAM_STREAMS, or add gateways.',
  );
}
