import { readFileSync, readdirSync } from 'node:fs';
import type { Kubectl } from './commands.ts';

type PodList = {
  items: { status: { containerStatuses?: { containerID?: string }[] } }[];
};

/**
 * Process ids of the containers of all pods with a label. The node is this machine, so its processes are seen here; a
 * container can't stop or kill its own first process.
 */
export async function containerProcesses(kubectl: Kubectl, selector: string): Promise<number[]> {
  const { items } = JSON.parse(
    await kubectl('get', 'pods', '--selector', selector, '--output=json'),
  ) as PodList;
  const ids = items
    .flatMap(({ status }) => status.containerStatuses ?? [])
    .map(({ containerID = '' }) => containerID.slice(containerID.lastIndexOf('/') + 1))
    .filter((id) => id !== '');
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids
    .filter((pid) => {
      const groups = controlGroups(pid);
      return ids.some((id) => groups.includes(id));
    })
    .map(Number);
}

function controlGroups(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8');
  } catch {
    // The process has ended since.
    return '';
  }
}

export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      // It has ended since. Not asked by instanceof: in Jest, Node.js' own errors are of another realm.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
