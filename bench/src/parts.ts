import { AUTH_RATES } from './auth/auth-rates.ts';
import { measureCost } from './cost/cost.ts';
import { measureGateway } from './gateway/gateway.ts';
import { measureIngest } from './usage/ingest.ts';
import { measureRate } from './measure.ts';
import type { Part } from './part.ts';
import { measureRevocation } from './revocation.ts';
import { measureTokenMemory } from './auth/token-memory.ts';
import { measureUsage } from './usage/usage.ts';
import { measureUsageViews } from './usage/usage-views.ts';
import { measureWebsocket } from './websocket/websocket.ts';

export const PARTS: Readonly<Record<string, Part>> = {
  token: { timeLimitSec: 300, run: (servers, say) => measureRate(AUTH_RATES.token, servers, say) },
  introspect: { timeLimitSec: 300, run: (servers, say) => measureRate(AUTH_RATES.introspect, servers, say) },
  'token-memory': { timeLimitSec: 1_200, run: measureTokenMemory },
  gateway: { timeLimitSec: 500, run: measureGateway },
  websocket: { timeLimitSec: 180, run: measureWebsocket },
  ingest: { timeLimitSec: 400, run: measureIngest },
  revocation: { timeLimitSec: 120, run: measureRevocation },
  cost: { timeLimitSec: 170, run: measureCost },
  usage: { timeLimitSec: 180, run: measureUsage },
  'usage-views': { timeLimitSec: 180, run: measureUsageViews },
};
