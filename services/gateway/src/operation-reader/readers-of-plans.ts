import type { CallRules } from '@tollgate/contracts/entitlement';
import { LRUCache } from 'lru-cache';
import type { Guards } from './guards.ts';
import { createOperationReader } from './operation-reader.ts';
import type { OperationReader, OperationReaderLimits } from './operation-reader.ts';

/** The reader with the guards of a payer's plan; what the plan doesn't say is as the settings say. */
export type ReaderOf = (rules: CallRules | null) => OperationReader;

/** Plans with guards of their own are few. */
const MAX_READERS = 16;
/** Of texts, for each of them. */
const REMEMBERED_MAX_LENGTH = 1_048_576;

export function createReaderOf(settings: OperationReaderLimits): ReaderOf {
  const standard = createOperationReader(settings);
  const byGuards = new LRUCache<string, OperationReader>({ max: MAX_READERS });
  // Rules come with each answer of account; comparing them for each call would cost more than finding them.
  let known = new WeakMap<CallRules, OperationReader>();

  function readerOf(rules: CallRules): OperationReader {
    const limits = limitsOf(rules, settings);
    const key = JSON.stringify([limits.guards, limits.batchLimit]);
    if (key === JSON.stringify([settings.guards, settings.batchLimit])) return standard;
    const before = byGuards.get(key);
    if (before !== undefined) return before;
    const reader = createOperationReader({ ...limits, rememberedMaxLength: REMEMBERED_MAX_LENGTH });
    byGuards.set(key, reader);
    // A reader that fell out would be used on beside a new one.
    known = new WeakMap();
    return reader;
  }

  return (rules) => {
    if (rules === null) return standard;
    let reader = known.get(rules);
    if (reader === undefined) {
      reader = readerOf(rules);
      known.set(rules, reader);
    }
    return reader;
  };
}

function limitsOf(rules: CallRules, settings: OperationReaderLimits): OperationReaderLimits {
  const { guards } = settings;
  const ofPlan: Guards = {
    maxDepth: rules.graphql_max_depth ?? guards.maxDepth,
    maxAliases: rules.graphql_max_aliases ?? guards.maxAliases,
    maxRootFields: rules.graphql_max_root_fields ?? guards.maxRootFields,
    maxDirectives: rules.graphql_max_directives ?? guards.maxDirectives,
    maxTokens: rules.graphql_max_tokens ?? guards.maxTokens,
    introspection: rules.graphql_introspection ?? guards.introspection,
  };
  return { ...settings, guards: ofPlan, batchLimit: rules.graphql_batch_limit ?? settings.batchLimit };
}
