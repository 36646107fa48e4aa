import { z } from 'zod';
import { ok, problem, skipped } from './finding.ts';
import type { Finding } from './finding.ts';

const liveSchema = z.object({ version: z.string().optional() });

/** A version that a process stated, by the process' name; null if it is too old to state one. */
export type StatedVersion = readonly [name: string, version: string | null];

/** Asks each gateway's private listener whether it lives and is ready. */
export async function checkGateways(
  urls: readonly string[],
  timeoutMs: number,
): Promise<{ findings: Finding[]; versions: StatedVersion[] }> {
  if (urls.length === 0) {
    const finding = 'No gateway was checked: name their private listeners with --gateway-url.';
    return { findings: [skipped('gateways', finding)], versions: [] };
  }
  const asked = await Promise.all(urls.map((url) => askGateway(url, timeoutMs)));
  return {
    findings: asked.map(({ finding }) => finding),
    versions: asked.flatMap(({ stated }) => (stated === undefined ? [] : [stated])),
  };
}

async function askGateway(
  url: string,
  timeoutMs: number,
): Promise<{ finding: Finding; stated?: StatedVersion }> {
  const check = 'gateways';
  const ask = (path: string) => fetch(`${url}${path}`, { signal: AbortSignal.timeout(timeoutMs) });
  try {
    const [live, ready] = await Promise.all([ask('/health/live'), ask('/health/ready')]);
    const stated = [`gateway ${url}`, liveSchema.parse(await live.json()).version ?? null] as const;
    return ready.ok
      ? { finding: ok(check, `${url} is ready.`), stated }
      : { finding: problem(check, `${url} is not ready.`, `See ${url}/health/ready and its log.`), stated };
  } catch {
    return {
      finding: problem(check, `${url} can't be reached.`, 'Start the gateway, or correct --gateway-url.'),
    };
  }
}

export function checkVersions(stated: readonly StatedVersion[]): Finding {
  const versions = new Set(stated.map(([, version]) => version));
  const [version] = versions;
  if (versions.size === 1 && typeof version === 'string') {
    return ok('versions', `Everything is version ${version}.`);
  }
  const list = stated.map(([name, each]) => `${name} ${each ?? '(older)'}`).join(', ');
  return problem('versions', `The versions differ: ${list}.`, 'Complete the update, or the rollback.');
}
