import type { ComposeContext } from '@tollgate/server';
import type { Config } from '../config.ts';
import { createEstimateRate } from './estimate-rate.ts';
import type { EstimateRate } from './estimate-rate.ts';
import { createEstimates } from './estimates.ts';
import type { Estimates } from './estimates.ts';
import { observeSchemas } from './metrics.ts';
import { openCostSchema } from './open-cost-schema.ts';
import type { CostSchemaSource } from './open-cost-schema.ts';

/** Each API version has a schema of its own, or no estimates. */
export async function openEstimates({
  config,
  logger,
  registry,
}: Pick<ComposeContext<Config>, 'config' | 'logger' | 'registry'>): Promise<{
  v2: Estimates;
  v1: Estimates;
  rate: EstimateRate;
  /** Of v2's schema; null without one. */
  schemaText: () => string | null;
  close: () => void;
}> {
  const open = async (
    apiVersion: 'v1' | 'v2',
    location: string | undefined,
    costsPath: string | undefined,
    upstreamUrls: readonly string[] | undefined,
  ): Promise<CostSchemaSource | null> => {
    const [upstreamUrl] = upstreamUrls ?? [];
    if (location === undefined || upstreamUrl === undefined) return null;
    const { GRAPHQL_COST_DEFAULTS: preset, GRAPHQL_LIST_SIZE: listSize } = config;
    return openCostSchema({ location, costsPath, upstreamUrl, preset, listSize, apiVersion, logger });
  };
  const [v2, v1] = await Promise.all([
    open('v2', config.GRAPHQL_SCHEMA, config.GRAPHQL_COSTS, config.UPSTREAM_URL),
    open('v1', config.GRAPHQL_V1_SCHEMA, config.GRAPHQL_V1_COSTS, config.UPSTREAM_V1_URL),
  ]);
  observeSchemas(registry, { v2, v1 });
  return {
    v2: createEstimates(v2 ?? NONE),
    v1: createEstimates(v1 ?? NONE),
    rate: createEstimateRate(config.ESTIMATES_PER_MINUTE),
    schemaText: () => v2?.texts()?.sdl ?? null,
    close: () => {
      v2?.close();
      v1?.close();
    },
  };
}

const NONE: Parameters<typeof createEstimates>[0] = {
  current: () => null,
  texts: () => null,
  reload: () => Promise.resolve(),
};
