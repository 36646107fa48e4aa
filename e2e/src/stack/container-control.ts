import { waitFor } from '@tollgate/stack/wait-for';
import { getContainerRuntimeClient } from 'testcontainers';
import type { StartedNetwork, StartedTestContainer } from 'testcontainers';
import type { Part } from './stack.ts';

/** Every container of a run bears it, so that none is left behind, not even one that could not start. */
export const RUN_LABEL = 'tollgate.e2e.run';
export const START_TIME_LIMIT_MS = 180_000;

/** A started part, and how to tell that it answers. */
export type RunningPart = { container: StartedTestContainer; answers: () => Promise<boolean> };

/** @throws {Error} with the output if the command fails */
export async function execIn(
  { container }: RunningPart,
  command: string[],
  env: Record<string, string> = {},
): Promise<string> {
  const { exitCode, stdout, output } = await container.exec(command, { env });
  if (exitCode !== 0) throw new Error(`${command.join(' ')} ended with ${String(exitCode)}: ${output}`);
  return stdout;
}

/** A part's container as the engine's own client knows it. */
export async function engineOf({ container }: RunningPart) {
  const client = await getContainerRuntimeClient();
  return client.container.getById(container.getId());
}

export async function kill(part: RunningPart): Promise<void> {
  const killed = await engineOf(part);
  await killed.kill({ signal: 'SIGKILL' });
  await killed.wait();
}

export async function startAgain(part: Part, running: RunningPart): Promise<void> {
  await (await engineOf(running)).start();
  await waitFor(running.answers, {
    timeoutMs: START_TIME_LIMIT_MS,
    intervalMs: 100,
    what: `${part} to answer`,
  });
}

export async function succeeds(container: StartedTestContainer, command: string): Promise<boolean> {
  return (await container.exec(['sh', '-c', command])).exitCode === 0;
}

/** Removes every container of the run, whatever its state, with its volumes, and then the network. */
export async function removeAll({ id, network }: { id: string; network: StartedNetwork }): Promise<void> {
  const { dockerode } = (await getContainerRuntimeClient()).container;
  const filters = { label: [`${RUN_LABEL}=${id}`] };
  const containers = await dockerode.listContainers({ all: true, filters });
  await Promise.all(
    containers.map((container) => dockerode.getContainer(container.Id).remove({ force: true, v: true })),
  );
  await network.stop();
}
