import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { LIMIT_FIELDS } from '@tollgate/contracts/entitlement';
import type { CallRules, LimitField } from '@tollgate/contracts/entitlement';
import type { Body } from './api/client.ts';
import { usageFault } from './failures.ts';
import * as values from './values.ts';

/** A plan's description, from a file, from options for its limits, or from both. */

export type PlanDescription = Body<'createPlan'>['description'];

export type DescriptionOptions = { descriptionFile?: string } & Record<string, unknown>;

const LIMITS: Record<LimitField, string> = {
  points_limit: 'points per billing period',
  rate_limit: 'data calls per minute',
  session_limit: 'data calls in flight at one moment',
  subscription_limit: 'GraphQL subscriptions open at one moment',
  time_sec_limit: 'seconds of open subscriptions per billing period',
  traffic_bytes_limit: 'bytes sent to the callers per billing period',
  team_slots_limit: 'people in the team, the manager included',
};

/** Of the gateway's settings of these names; none leaves them in force. */
const GUARDS: Record<
  Exclude<
    keyof CallRules,
    | 'points_per_call_limit'
    | 'strict_points'
    | 'graphql_introspection'
    | 'mcp'
    | 'mcp_mutations'
    | 'mcp_points_per_call_limit'
  >,
  string
> = {
  graphql_max_depth: 'levels of fields in an operation; 0 for any number',
  graphql_max_aliases: 'aliases in an operation; 0 for any number',
  graphql_max_root_fields: 'root fields in an operation; 0 for any number',
  graphql_max_directives: 'directives in an operation; 0 for any number',
  graphql_max_tokens: 'tokens in a document; 0 for any number',
  graphql_batch_limit: 'operations in a batch; 0 refuses batches',
};

type DescriptionOption = { field: string; name: string; value: string; text: string; parse: Parse };
type Parse = (text: string) => unknown;

const OPTIONS: readonly DescriptionOption[] = [
  ...LIMIT_FIELDS.map((field) => limitOption(field, LIMITS[field])),
  limitOption('points_per_call_limit', 'points that one operation may cost by its estimate'),
  switchOption('strict_points', 'whether calls are admitted only if the points left cover their estimates'),
  numberOption('rollover_points_max', 'unused points that go over to the next billing period'),
  ...Object.entries(GUARDS).map(([field, text]) => numberOption(field, text)),
  switchOption('graphql_introspection', 'whether introspection is allowed'),
  switchOption('mcp', 'whether agents may call by MCP'),
  switchOption('mcp_mutations', 'whether agents may run mutations, with the scope mcp:write'),
  limitOption('mcp_points_per_call_limit', 'points that one operation of an agent may cost by its estimate'),
];

function numberOption(field: string, text: string): DescriptionOption {
  return { field, name: field.replaceAll('_', '-'), value: 'number', text, parse: values.wholeNumberOrNone };
}

function switchOption(field: string, text: string): DescriptionOption {
  return { field, name: field.replaceAll('_', '-'), value: 'on|off', text, parse: values.onOffOrNone };
}

function limitOption(field: string, text: string): DescriptionOption {
  const name = `limit-${field.slice(0, -'_limit'.length).replaceAll('_', '-')}`;
  return { field, name, value: 'number', text, parse: values.wholeNumberOrNone };
}

export function addDescriptionOptions(command: Command): Command {
  command.option('--description-file <file>', 'file with a JSON object of attributes; - reads stdin');
  for (const { name, value, text, parse } of OPTIONS) {
    command.option(`--${name} <${value}>`, `${text}, or none`, parse);
  }
  return command;
}

/**
 * The description that the options amount to: that of the file, else `present`, with the attributes that are given set,
 * and those that are `none` taken out. Undefined where the options name nothing.
 *
 * @throws {Failure} usage, where the file can't be read or holds no object
 */
export async function descriptionFrom(
  options: DescriptionOptions,
  present: () => Promise<PlanDescription>,
): Promise<PlanDescription | undefined> {
  const given = OPTIONS.flatMap(({ field, name }) => {
    const value = options[keyOf(name)];
    return value === undefined ? [] : [[field, value] as const];
  });
  const { descriptionFile } = options;
  if (descriptionFile === undefined && given.length === 0) return undefined;
  const description = descriptionFile === undefined ? await present() : readDescription(descriptionFile);
  const removed = new Set(given.filter(([, value]) => value === 'none').map(([field]) => field));
  const kept = Object.entries({ ...description, ...Object.fromEntries(given) });
  return Object.fromEntries(kept.filter(([name]) => !removed.has(name)));
}

/** `--limit-time-sec` is `limitTimeSec` in what commander has read. */
function keyOf(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
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
