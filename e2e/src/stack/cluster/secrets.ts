import type { Kubectl } from './commands.ts';
import { RELEASE } from './release.ts';

/** The keys of a topic's Secret with their values (docs/kubernetes.md, "Secrets"). */
export async function readSecret(kubectl: Kubectl, topic: string): Promise<Record<string, string>> {
  const found = await kubectl('get', 'secret', `${RELEASE}-${topic}`, '--output=json');
  const { data } = JSON.parse(found) as { data: Record<string, string> };
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  );
}
