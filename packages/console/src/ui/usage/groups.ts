import type { Usage, UsageFigures } from '../../api/usage.ts';
import { MAX_STACKS } from '../chart/model.ts';
import type { ChartValues } from '../chart/model.ts';

type Group = { id: number | string; name: string; usage: UsageFigures };

/** The groups of a range with their names, most points first; empty without grouping. */
export function groupsOf(usage: Usage): Group[] {
  if (usage.group_by === 'application') {
    return usage.groups.map(({ application_id, name, type, status, usage: figures }) => ({
      id: application_id,
      name: applicationName({ name, type, status }),
      usage: figures,
    }));
  }
  if (usage.group_by === 'member') {
    return usage.groups.map(({ account_id, name, email, usage: figures }) => ({
      id: account_id,
      name: memberName({ name, email }, account_id),
      usage: figures,
    }));
  }
  if (usage.group_by === 'api_version') {
    return usage.groups.map(({ api_version, usage: figures }) => ({
      id: api_version,
      name: `API ${api_version}`,
      usage: figures,
    }));
  }
  return [];
}

type Named = { name: string | null; type: string | null; status: string | null };

function applicationName({ name, type, status }: Named): string {
  if (type === 'temporary') return 'Temporary token';
  if (name === null) return 'Another system';
  return status === 'deleted' ? `${name} (deleted)` : name;
}

/** Only a former member has no address. */
function memberName(
  { name, email }: { name: string | null; email: string | null },
  accountId: number,
): string {
  const shown = name ?? `Account ${String(accountId)}`;
  return email === null ? `${shown} (former member)` : `${shown}, ${email}`;
}

type Bucket = Usage['buckets'][number];

/** The figures of a bucket's groups, by the group's id. */
function figuresIn({ groups }: Bucket): Map<number | string, UsageFigures> {
  return new Map(
    (groups as readonly { usage: UsageFigures }[]).map((group) => [idOf(group), group.usage] as const),
  );
}

function idOf(group: object): number | string {
  const { application_id, account_id, api_version } = group as Record<string, number | string | undefined>;
  return application_id ?? account_id ?? api_version ?? '';
}

/**
 * The figures of each bucket by group: those with most of the measure, and all others together where there are more
 * than a chart can tell apart. One row without grouping.
 */
export function stacksOf(usage: Usage, field: keyof UsageFigures, name: string): ChartValues[] {
  if (usage.group_by === 'none') {
    return [{ name, values: usage.buckets.map((bucket) => bucket.usage[field]) }];
  }
  const ranked = groupsOf(usage).toSorted((one, other) => other.usage[field] - one.usage[field]);
  const shown = ranked.length > MAX_STACKS ? ranked.slice(0, MAX_STACKS - 1) : ranked;
  const buckets = usage.buckets.map(figuresIn);
  const stacks = shown.map((group) => ({
    name: group.name,
    values: buckets.map((figures) => figures.get(group.id)?.[field] ?? 0),
  }));
  const rest = new Set(ranked.slice(shown.length).map(({ id }) => id));
  if (rest.size === 0) return stacks;
  const others = buckets.map((figures) =>
    [...figures].reduce((sum, [id, values]) => (rest.has(id) ? sum + values[field] : sum), 0),
  );
  return [...stacks, { name: `${String(rest.size)} others`, values: others }];
}
