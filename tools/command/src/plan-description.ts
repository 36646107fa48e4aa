import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { LIMIT_FIELDS } from '@tollgate/contracts/entitlement';
import type { LimitField } from '@tollgate/contracts/entitlement';
import type { Body } from './api/client.ts';
import { usageFault } from './failures.ts';
import * as values from './values.ts';

/** A plan's description, from a file, from options for its limits, or from both. */

export type PlanDescription = Body<'createPlan'>['description'];

export type DescriptionOptions = { descriptionFile?: string } & Record<string, unknown>;

const UNITS: Record<LimitField, string> = {
  points_limit: 'points per billing period',
  rate_limit: 'data calls per minute',
  session_limit: 'data calls in flight at one moment',
  subscription_limit: 'GraphQL subscriptions open at one moment',
  time_sec_limit: 'seconds of open subscriptions per billing period',
  traffic_bytes_limit: 'bytes sent to the callers per billing period',
  team_slots_limit: 'people in the team, the manager included',
};

export function addDescriptionOptions(command: Command): Command {
  command.option('--description-file <file>', 'file with a JSON object of attributes; - reads stdin');
  for (const field of LIMIT_FIELDS) {
    const name = field.slice(0, -'_limit'.length).replaceAll('_', '-');
    command.option(`--limit-${name} <number>`, `${UNITS[field]}, or none`, values.wholeNumberOrNone);
  }
  return command;
}

/**
 * The description that the options amount to: that of the file, else `present`, with the limits that are given
 * set, and those that are `none` taken out. Undefined where the options name nothing.
 *
 * @throws {Failure} usage, where the file can't be read or holds no object
 */
export async function descriptionFrom(
  options: DescriptionOptions,
  present: () => Promise<PlanDescription>,
): Promise<PlanDescription | undefined> {
  const limits = LIMIT_FIELDS.flatMap((field) => {
    const limit = options[attributeOf(field)];
    return limit === undefined ? [] : [[field, limit as values.OrNone] as const];
  });
  const { descriptionFile } = options;
  if (descriptionFile === undefined && limits.length === 0) return undefined;
  const description = descriptionFile === undefined ? await present() : readDescription(descriptionFile);
  const removed = new Set<string>(limits.filter(([, limit]) => limit === 'none').map(([field]) => field));
  const kept = Object.entries({ ...description, ...Object.fromEntries(limits) });
  return Object.fromEntries(kept.filter(([name]) => !removed.has(name)));
}

/** `--limit-time-sec` is `limitTimeSec` in what commander has read. */
function attributeOf(field: LimitField): string {
  const name = field.slice(0, -'_limit'.length);
  return `limit_${name}`.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function readDescription(file: string): PlanDescription {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file === '-' ? 0 : file, 'utf8'));
  } catch (error) {
    throw usageFault(`${file} cannot be read as JSON: ${error instanceof Error ? error.message : 'unknown'}`);
  }
  if (typeof content === 'object' && content !== null && !Array.isArray(content)) {
    return content;
  }
  throw usageFault(`${file} must contain a JSON object.`);
}
