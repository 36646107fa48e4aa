import type { CostSchema } from '@tollgate/graphql-cost/cost-schema';
import { parseCostsFile } from '@tollgate/graphql-cost/costs-file';
import { COST_PRESETS, loadCostSchema } from '@tollgate/graphql-cost/load-cost-schema';
import type { CostPreset, LoadedCostSchema } from '@tollgate/graphql-cost/load-cost-schema';
import type { Logger } from '@tollgate/log';
import { fileText } from '../operation-reader/file-text.ts';
import type { ReadText } from '../operation-reader/file-text.ts';
import { tellingOnce } from '../operation-reader/telling-once.ts';
import { schemaText } from './schema-text.ts';

const RELOAD_MS = 30_000;
/** While there is none yet. */
const RETRY_MS = 2_000;

/** Calls with operations that the schema doesn't know must not make the gateway read it all the time. */
const RELOAD_MIN_MS = 10_000;

/** The schema by which calls are priced. */
export type CostSchemaSource = {
  /** Another object is another generation. */
  current: () => CostSchema | null;
  /** The text of the schema; null until one can be used. */
  text: () => string | null;
  /** Seconds since it was last read, or found unchanged; since the start if it never was. */
  ageSec: () => number;
  /** How many names the file of weights has that the schema lacks. */
  unknownNames: () => number;
  /** Reads it again, unless it was read in the last 10 s. Never rejects. */
  reload: () => Promise<void>;
  close: () => void;
};

export type CostSchemaOptions = {
  /** A file, a URL, or `introspect`. */
  location: string;
  /** The file of weights. */
  costsPath: string | undefined;
  upstreamUrl: string;
  preset: CostPreset;
  /** Items of a list whose size nothing tells. */
  listSize: number;
  apiVersion: 'v1' | 'v2';
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** Default: 30 s, and 2 s while there is none. */
  reloadMs?: number;
};

/**
 * Reads the schema, and again every 30 s. One that can't be used is logged, and the one before stays in use; without any,
 * there are no estimates.
 */
export async function openCostSchema(options: CostSchemaOptions): Promise<CostSchemaSource> {
  const { location, costsPath, upstreamUrl, apiVersion, logger } = options;
  const readSchema = schemaText(location, upstreamUrl);
  const readCosts: ReadText | null = costsPath === undefined ? null : fileText(costsPath);
  let read: { sdl: string; costs: string; loaded: () => LoadedCostSchema } | undefined;
  let used: LoadedCostSchema | null = null;
  let usedText: string | null = null;
  let reloading: Promise<void> | undefined;
  let reloadedMs = -Infinity;

  async function load(): Promise<void> {
    const [sdl, costs] = await Promise.all([readSchema(), readCosts?.() ?? '{}']);
    if (read?.sdl !== sdl || read.costs !== costs) {
      read = { sdl, costs, loaded: once(() => loadTexts(sdl, costs)) };
    }
    const loaded = read.loaded();
    if (loaded === used) return;
    used = loaded;
    usedText = sdl;
    const { warnings, unknownNames, flatLists } = loaded;
    const facts = { api_version: apiVersion };
    logger.info({ ...facts, flat_lists: flatLists }, 'the GraphQL schema is read');
    for (const warning of warnings) logger.warn(facts, warning);
    for (const name of unknownNames) logger.warn(facts, `${name}: the schema has nothing of this name`);
  }

  function loadTexts(sdl: string, costs: string): LoadedCostSchema {
    return loadCostSchema(sdl, {
      defaults: COST_PRESETS[options.preset],
      listSize: options.listSize,
      costs: parseCostsFile(costs),
    });
  }

  function reload(): Promise<void> {
    reloadedMs = performance.now();
    reloading ??= loadOrLog().finally(() => {
      reloading = undefined;
    });
    return reloading;
  }

  const { run: loadOrLog, ageSec } = tellingOnce(load, (error) => {
    logger.error({ api_version: apiVersion, err: error }, 'the GraphQL schema cannot be used');
  });

  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  async function follow(): Promise<void> {
    await reload();
    if (isClosed) return;
    timer = setTimeout(
      () => void follow(),
      options.reloadMs ?? (used === null ? RETRY_MS : RELOAD_MS),
    ).unref();
  }

  await follow();
  return {
    current: () => used?.schema ?? null,
    text: () => usedText,
    ageSec,
    unknownNames: () => used?.unknownNames.length ?? 0,
    reload: async () => {
      await (performance.now() - reloadedMs < RELOAD_MIN_MS ? reloading : reload());
    },
    close: () => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** The function, run once: what it returned or threw, it returns or throws again. */
function once<T>(run: () => T): () => T {
  let outcome: { value: T } | { error: unknown } | undefined;
  return () => {
    if (outcome === undefined) {
      try {
        outcome = { value: run() };
      } catch (error) {
        outcome = { error };
      }
    }
    if ('error' in outcome) throw outcome.error;
    return outcome.value;
  };
}
