import type { Browser, Person } from './people.ts';

export async function makeTeam(manager: { browser: Browser }, name = 'Team'): Promise<number> {
  const { status, text, body } = await manager.browser.request('POST', '/team', { name });
  if (status !== 201) throw new Error(`no team: ${text}`);
  return body['team_id'] as number;
}

/** Returns the invitation's id. */
export async function inviteTo(
  manager: { browser: Browser },
  { email }: Pick<Person, 'email'>,
): Promise<number> {
  const { status, text, body } = await manager.browser.request('POST', '/team/invitations', { email });
  if (status !== 201) throw new Error(`no invitation: ${text}`);
  return body['invitation_id'] as number;
}

/** Invites the members, who accept. */
export async function joinTeam(
  manager: { browser: Browser },
  ...members: (Person & { browser: Browser })[]
): Promise<void> {
  for (const member of members) {
    const invitation = await inviteTo(manager, member);
    const path = `/invitations/${String(invitation)}/accept`;
    const { status, text } = await member.browser.request('POST', path);
    if (status !== 200) throw new Error(`not joined: ${text}`);
  }
}
