import { AUTH_RATES } from './auth/auth-rates.ts';
import { measureCost } from './cost/cost.ts';
import { measureHotPayer } from './gateway/hot-payer.ts';
import { measureManyGateways } from './gateway/many-gateways.ts';
import { measureGateway } from './gateway/gateway.ts';
import { measureGraphql } from './graphql/graphql.ts';
import { measureIdle } from './cost/idle.ts';
import { measureClosings } from './usage/closings.ts';
import { measureCounting } from './usage/counting.ts';
import { measureIngest } from './usage/ingest.ts';
import { measureLive } from './usage/live.ts';
import { measureRate } from './auth/measure-rate.ts';
import { measureMcp } from './mcp/mcp.ts';
import { measureOperatorSearch } from './operators/search.ts';
import type { Part } from './part.ts';
import { measureRevocation } from './revocation.ts';
import { simulateCapacity } from './simulate/part.ts';
import { measureTokenMemory } from './auth/token-memory.ts';
import { measureUsage } from './usage/usage.ts';
import { measureUsageViews } from './usage/usage-views.ts';
import { measureWebsocket } from './websocket/websocket.ts';

/** In which Hydra may be built. */
const GO_BUILD_SEC = 1_200;

export const PARTS: Readonly<Record<string, Part>> = {
  token: {
    timeLimitSec: 400 + GO_BUILD_SEC,
    run: (servers, say) => measureRate(AUTH_RATES.token, servers, say),
  },
  introspect: {
    timeLimitSec: 400 + GO_BUILD_SEC,
    run: (servers, say) => measureRate(AUTH_RATES.introspect, servers, say),
  },
  'token-memory': { timeLimitSec: 1_200, run: measureTokenMemory },
  gateway: { timeLimitSec: 900, run: measureGateway },
  graphql: { timeLimitSec: 300, run: measureGraphql },
  mcp: { timeLimitSec: 300, run: measureMcp },
  websocket: { timeLimitSec: 180, run: measureWebsocket },
  ingest: { timeLimitSec: 400, run: measureIngest },
  revocation: { timeLimitSec: 120, run: measureRevocation },
  live: { timeLimitSec: 180, run: measureLive },
  idle: { timeLimitSec: 600, run: measureIdle },
  counting: { timeLimitSec: 180, run: measureCounting },
  closings: { timeLimitSec: 1_500, run: measureClosings },
  cost: { timeLimitSec: 720, run: measureCost },
  'many-gateways': { timeLimitSec: 240, run: measureManyGateways },
  simulate: { timeLimitSec: 400, compute: simulateCapacity },
  'hot-payer': { timeLimitSec: 120, run: measureHotPayer },
  usage: { timeLimitSec: 180, run: measureUsage },
  'operator-search': { timeLimitSec: 240, run: measureOperatorSearch },
  'usage-views': { timeLimitSec: 180, run: measureUsageViews },
};
