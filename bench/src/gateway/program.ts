import { connect } from 'node:net';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@tollgate/stack/ports';
import { logTail, startProcess } from '@tollgate/stack/process';
import { localUrl } from '@tollgate/stack/service-settings';
import { waitFor } from '@tollgate/stack/wait-for';
import { inPlace } from '../cores.ts';
import type { Servers } from '../servers.ts';
import type { Door } from './calls.ts';

type Command = { args: string[]; env: Record<string, string> };

export type Program = {
  name: string;
  place: string | undefined;
  command: (port: number) => Promise<Command> | Command;
};

export async function startProgram(servers: Servers, { name, place, command }: Program): Promise<Door> {
  const port = await freePort();
  const { args, env } = await command(port);
  const [program = '', ...rest] = inPlace(place, args);
  const logFile = join(servers.directory, `logs/${name}.log`);
  const started = await startProcess({
    name,
    command: program,
    args: rest,
    env: { PATH: process.env['PATH'], ...env },
    logFile,
    onSpawn: servers.onSpawn,
  });
  await waitFor(() => started.hasExited() || isOpen(port), {
    timeoutMs: 20_000,
    what: `${name} to listen`,
  });
  if (started.hasExited()) throw new Error(`${name} has ended.\n${logTail(logFile)}`);
  return { name, pid: started.identity.pid, url: `${localUrl(port)}/graphql` };
}

/** Replaces `@NAME@` in a file of peers/. */
export async function fillTemplate(
  { project }: Pick<Servers, 'project'>,
  template: string,
  values: Readonly<Record<string, string>>,
): Promise<string> {
  const text = await readFile(join(project, 'bench/peers', template), 'utf8');
  return text.replace(/@([A-Z_]+)@/g, (_whole, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`${template} asks for ${name}`);
    return value;
  });
}

/** Readable by the programs' own users, since root's processes drop their privileges. */
export async function programDirectory({ directory }: Servers, name: string): Promise<string> {
  const made = join(directory, name);
  await mkdir(made, { recursive: true, mode: 0o755 });
  return made;
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const answer = (open: boolean) => () => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', answer(true)).once('error', answer(false));
  });
}
