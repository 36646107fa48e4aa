import { spawnSync } from 'node:child_process';

/** Undefined for the current user. */
export type PostgresUser = { uid: number; gid: number } | undefined;

/** Postgres refuses to run as root, so there it runs as the system's `postgres`, created if missing. */
export function postgresUser(): PostgresUser {
  if (process.getuid?.() !== 0) return undefined;
  const known = lookUp();
  if (known !== undefined) return known;
  const args = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres'];
  const { error, stderr } = spawnSync('useradd', args, { encoding: 'utf8' });
  // Looked up also after a failure, because another start may have created the user.
  const made = lookUp();
  if (made !== undefined) return made;
  throw new Error(
    `Postgres doesn't run as root, and the system user "postgres" could not be made (${error?.message ?? stderr.trim()}). Make that user, or run this as an ordinary one.`,
  );
}

export function canReach(user: PostgresUser, directory: string): boolean {
  if (user === undefined) return true;
  return spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', directory], { ...user, cwd: '/' }).status === 0;
}

function lookUp(): PostgresUser {
  const [uid, gid] = ['-u', '-g'].map((which) => {
    const { status, stdout } = spawnSync('id', [which, 'postgres'], { encoding: 'utf8' });
    return status === 0 ? Number(stdout.trim()) : undefined;
  });
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}
