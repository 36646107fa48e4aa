import { Kind, valueFromASTUntyped } from 'graphql';
import type { DocumentNode } from 'graphql';

export type DirectiveNames = { cost: string; listSize: string };

/** What a schema calls the directives; `@link` may rename them (https://specs.apollo.dev/link/v1.0). */
export function directiveNames({ definitions }: DocumentNode): DirectiveNames {
  const names = { cost: 'cost', listSize: 'listSize' };
  for (const definition of definitions) {
    if (definition.kind !== Kind.SCHEMA_DEFINITION && definition.kind !== Kind.SCHEMA_EXTENSION) continue;
    for (const directive of definition.directives ?? []) {
      if (directive.name.value !== 'link') continue;
      const link = Object.fromEntries(
        directive.arguments?.map(({ name, value }) => [name.value, valueFromASTUntyped(value)]) ?? [],
      );
      rename(names, link);
    }
  }
  return names;
}

/** The features whose directives these are, by the last but one part of their URL. */
const FEATURES = new Set(['cost', 'federation']);

function rename(names: DirectiveNames, link: Record<string, unknown>): void {
  const { url, as, import: imports } = link;
  const feature = /\/(?<feature>[^/]+)\/v\d[^/]*$/.exec(String(url))?.groups?.['feature'] ?? '';
  if (!FEATURES.has(feature)) return;
  const prefix = typeof as === 'string' ? as : feature;
  const imported = new Map(
    (Array.isArray(imports) ? (imports as unknown[]) : []).map((entry) =>
      typeof entry === 'string' ? [entry, entry] : namesOf(entry),
    ),
  );
  for (const name of ['cost', 'listSize'] as const) {
    const local = imported.get(`@${name}`)?.slice(1);
    if (local !== undefined) names[name] = local;
    // The directive that has its feature's name has no prefix.
    else if (feature === 'cost') names[name] = name === prefix ? name : `${prefix}__${name}`;
  }
}

function namesOf(entry: unknown): [string, string] {
  const { name, as } = entry as { name?: unknown; as?: unknown };
  return [String(name), String(as ?? name)];
}
