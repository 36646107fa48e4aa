import type { Stack } from '../stack/stack.ts';
import { badInput } from './bad-input.ts';
import { browsers } from './browsers.ts';
import { clients } from './clients.ts';
import { codeSamples } from './console/code-samples.ts';
import { CLUSTER_JOURNEYS, DEPLOYED_JOURNEYS, PEOPLE_JOURNEYS, consoleJourneys } from './console-journeys.ts';
import type { Journeys } from './console-journeys.ts';
import { fairShares } from './fair-shares.ts';
import { faults } from './faults.ts';
import { manualTokens } from './manual-tokens.ts';
import { interruptedCalls } from './interrupted-calls.ts';
import { meteredCall } from './metered-call.ts';
import { observability } from './operations/observability.ts';
import { privateAnswers } from './private-answers.ts';
import { readCalls } from './read-calls.ts';
import { restoredPostgres } from './operations/restored-postgres.ts';
import { revocation } from './revocation.ts';
import { socketQueries } from './socket-queries.ts';
import { subscriptions } from './subscriptions.ts';
import { team } from './team.ts';
import { webhookFairness } from './webhook-fairness.ts';

/** Every spec but PAGE_JOURNEYS, against whichever stack is given. */
export function allSpecs(stack: () => Stack): void {
  deployedSpecs(stack, PEOPLE_JOURNEYS);
  // What was used until here fills its panels.
  observability(stack);
  privateAnswers(stack);
  team(stack);
  socketQueries(stack);
  badInput(stack);
  browsers(stack);
  codeSamples(stack);
  manualTokens(stack);
  webhookFairness(stack);
  readCalls(stack);
  interruptedCalls(stack);
  fairShares(stack);
}

/**
 * The specs whose result can depend on how the services are deployed: on images, networks and their proxies, restarts,
 * and storage. What depends on the code alone is left to the processes.
 */
export function deployedSpecs(stack: () => Stack, journeys: Journeys = DEPLOYED_JOURNEYS): void {
  servingSpecs(stack, journeys);
  revocation(stack);
  faults(stack);
}

/** The same for a cluster, whose own specs lose a pod of each part under load (specs/cluster/lost-pods.ts). */
export function servedByCluster(stack: () => Stack): void {
  servingSpecs(stack, CLUSTER_JOURNEYS);
  revocation(stack, { outages: 'redis' });
}

function servingSpecs(stack: () => Stack, journeys: Journeys): void {
  meteredCall(stack);
  clients(stack);
  subscriptions(stack);
  consoleJourneys(stack, journeys);
  restoredPostgres(stack);
}
