import type { Registry } from 'prom-client';
import { createHistogram, createOutcomes, observeValue } from '@tollgate/server/tallies';
import type { DataCallOutcome, PipelineStep } from './data-call.ts';
import type { OnCompared } from './settle/settle-call.ts';

/** Of a data call as a whole, and of the time that its steps take. */
export function createCallMetrics(registry: Registry) {
  const onEstimated = createOutcomes(registry, {
    name: 'tollgate_estimated_calls_total',
    help: 'Calls whose estimate could be compared with a stated price by outcome: within, exceeded. Over WebSocket, those with strict points',
    outcomes: ['within', 'exceeded'],
  });
  const onCompared: OnCompared = (points, estimatedPoints) => {
    onEstimated(points > estimatedPoints ? 'exceeded' : 'within');
  };
  return { ...callMetrics(registry), ...stepMetrics(registry), onCompared };
}

/** Each starts at 0, so that a rate sees the first one. */
const CALL_OUTCOMES: readonly DataCallOutcome[] = [
  ...(['answered', 'aborted', 'broken', 'unrecorded'] as const),
  ...(['internal_error', 'service_unavailable', 'upstream_unreachable', 'upstream_timeout'] as const),
];

function callMetrics(registry: Registry) {
  const onOutcome = createOutcomes(registry, {
    name: 'tollgate_data_calls_total',
    help: 'Data calls by outcome: answered, aborted, broken, unrecorded, or the code of the refusal',
    outcomes: CALL_OUTCOMES,
  });
  const observe = createHistogram(registry, {
    name: 'tollgate_data_call_duration_seconds',
    help: 'Time from the head of a data call to the end of its response',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  })();
  let inFlight = 0;
  observeValue(registry, {
    name: 'tollgate_data_calls_in_flight',
    help: 'Data calls that have begun and not ended',
    read: () => inFlight,
  });
  return {
    /** Observes a data call from now until the returned function, which returns the duration in milliseconds. */
    onDataCall: () => {
      const beganMs = performance.now();
      inFlight += 1;
      return (outcome: DataCallOutcome) => {
        inFlight -= 1;
        onOutcome(outcome);
        const durationMs = performance.now() - beganMs;
        observe(durationMs / 1000);
        return durationMs;
      };
    },
  };
}

function stepMetrics(registry: Registry) {
  const steps = createHistogram(registry, {
    name: 'tollgate_data_call_step_duration_seconds',
    help: 'Time of a data call in one step: authenticate, entitle, read, admit, forward, settle',
    labelNames: ['step'],
    buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10],
  });
  const stepOf = {
    authenticate: steps({ step: 'authenticate' }),
    entitle: steps({ step: 'entitle' }),
    read: steps({ step: 'read' }),
    admit: steps({ step: 'admit' }),
    forward: steps({ step: 'forward' }),
  };
  const settle = steps({ step: 'settle' });
  const prepare = createHistogram(registry, {
    name: 'tollgate_data_call_preparation_duration_seconds',
    help: 'Time from the head of an admitted data call until it is forwarded: authenticate, entitle and admit',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 2.5, 10],
  })();
  return {
    /** Observes a data call's steps, each from the end of the previous one, and returns the ms since the head. */
    onSteps: () => {
      const arrivedMs = performance.now();
      let headMs = arrivedMs;
      let beganMs = arrivedMs;
      return (step: PipelineStep) => {
        const nowMs = performance.now();
        stepOf[step]((nowMs - beganMs) / 1000);
        // How fast a body arrives is up to its caller.
        if (step === 'read') headMs += nowMs - beganMs;
        if (step === 'admit') prepare((nowMs - headMs) / 1000);
        beganMs = nowMs;
        return nowMs - arrivedMs;
      };
    },
    /** `beganMs` is by performance.now(). */
    onSettled: (beganMs: number) => {
      settle((performance.now() - beganMs) / 1000);
    },
  };
}
