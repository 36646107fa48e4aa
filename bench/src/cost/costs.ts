import type { RowState, ScriptStates } from '../simulate/unit-costs.ts';
import type { CpuUs } from './processes.ts';

/** CPU-µs per unit, and bytes. */
export type Costs = {
  token: CpuUs;
  introspection: CpuUs;
  /** That a gateway reads in Redis, where account keeps it (docs/design/entitlement.md). */
  keptEntitlement: CpuUs;
  /** That account is asked for, and keeps in Redis. */
  entitlement: CpuUs;
  /** µs a second of each idle process. */
  idle: CpuUs;
  /** Redis memory of a live token. */
  tokenBytes: number;
  /** An hour of one application's usage in Postgres, indexes included. */
  hourlyRowBytes: number;
};

/**
 * How a data call's cost depends on the calls beside it: CPU time of the gateway and of Redis with the scripts that calls
 * share or don't, and `rows` of one account's calls, which share hourly rows.
 */
export type CallStates = { gateway: ScriptStates; Redis: ScriptStates; rows: RowState };
