import { execFileSync } from 'node:child_process';
import { signalProcess } from '@tollgate/stack/process-identity';

/** `freeze` and `thaw` of a server that may have another process after a restart. */
export function freezing(pid: () => number): { freeze: () => void; thaw: () => void } {
  return {
    freeze: () => {
      signalTree(pid(), 'SIGSTOP');
    },
    thaw: () => {
      signalTree(pid(), 'SIGCONT');
    },
  };
}

/** Includes descendants: Postgres has a process for each session. */
function signalTree(pid: number, signal: 'SIGSTOP' | 'SIGCONT'): void {
  for (const one of withDescendants(pid)) signalProcess(one, signal);
}

/** Parents come first, so that a stopped one spawns no more. */
function withDescendants(root: number): number[] {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  const pairs = rows.map((row) => row.trim().split(/\s+/).map(Number));
  const found = [root];
  for (const parent of found) {
    for (const [pid = 0, ppid = 0] of pairs) if (ppid === parent) found.push(pid);
  }
  return found;
}
