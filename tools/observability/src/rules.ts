import { readFileSync, readdirSync } from 'node:fs';
import { parse } from 'yaml';
import { REPOSITORY } from './documented.ts';

export type Rule = {
  file: string;
  expr: string;
  alert?: string;
  record?: string;
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
};

export const RULES_DIRECTORY = `${REPOSITORY}/k8s/tollgate/alerts`;

/** All alerting and recording rules. */
export function readRules(): Rule[] {
  return readdirSync(RULES_DIRECTORY).flatMap((file) => {
    const text = readFileSync(`${RULES_DIRECTORY}/${file}`, 'utf8');
    const { groups } = parse(text) as { groups: { rules: Omit<Rule, 'file'>[] }[] };
    return groups.flatMap(({ rules }) => rules.map((rule) => ({ file, ...rule })));
  });
}
