import { expect, test } from '@jest/globals';
import { expectAccessible, openTab } from '../../browser/console-page.ts';
import { eventually, obtainToken, postGraphql } from '../../caller.ts';
import { LIVE_TIME_LIMIT_MS, QUERY, mailedLink } from './journey.ts';
import type { Journey } from './journey.ts';

const PASSWORD = 'correct horse battery';

/** The team: who is in it, and who pays. */
export function teamJourneys(journey: Journey): void {
  const teamPage = () => `${journey.stack().demo.console.url}/team`;

  test('invite, sign up and accept from the mails: their call is charged to the manager', async () => {
    const page = await journey.signedIn();
    const { demo } = journey.stack();
    const email = `teammate-${crypto.randomUUID()}@example.com`;
    await page.goto(teamPage());
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Email').press('Enter');
    await page.getByText(`Invitation sent to ${email}.`).waitFor();
    await page.getByRole('cell', { name: 'Pending', exact: true }).first().waitFor();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Email').press('Enter');
    await page.locator('[name="email"][aria-invalid="true"]:focus').waitFor();
    await expectAccessible(page);

    const teammate = await openTab(journey.browser(), `${demo.console.url}/sign-up`);
    const invitation = await mailedLink(journey, email, 'invitation');
    await teammate.page.getByLabel('Name').fill('Grace Hopper');
    await teammate.page.getByLabel('Email').fill(email);
    await teammate.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await teammate.page.getByRole('button', { name: 'Sign up' }).click();
    await teammate.page.getByRole('heading', { name: 'Check your email' }).waitFor();
    await teammate.page.goto(await mailedLink(journey, email, 'verify-email'));
    await teammate.page.getByRole('button', { name: 'Confirm' }).click();
    await teammate.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await teammate.page.getByRole('button', { name: 'Confirm' }).click();
    await teammate.page.getByText('is now the address of your account').waitFor();
    await teammate.page.goto(invitation);
    await teammate.page.getByText('Sign in to accept').waitFor();
    await teammate.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await teammate.page.getByRole('button', { name: 'Sign in' }).click();
    await teammate.page.getByRole('button', { name: `Accept as ${email}` }).click();
    await teammate.page.getByRole('heading', { name: 'You joined the team' }).waitFor();
    await teammate.page.goto(teamPage());
    await teammate.page.getByText(`(${demo.console.email})`).first().waitFor();
    await expectAccessible(teammate.page);

    const { origin } = new URL(demo.console.url);
    const session = await teammate.page.request.get(`${origin}/api/console/session`);
    const { csrf_token } = (await session.json()) as { csrf_token: string };
    const made = await teammate.page.request.post(`${origin}/api/console/applications`, {
      headers: { 'x-csrf-token': csrf_token },
      data: { name: 'Compiler', type: 'automatic', token_lifespan_sec: 3_600 },
    });
    const application = (await made.json()) as {
      application_id: number;
      client_id: string;
      client_secret: string;
    };
    const response = await postGraphql(demo, await obtainToken(demo, application), QUERY);
    expect(response.status).toBe(200);
    const points = response.headers.get('x-points-cost');
    await eventually(
      async () => {
        await page.reload();
        const row = page.getByRole('row', { name: /Grace Hopper/ });
        await row.waitFor();
        return row.getByRole('cell').allInnerTexts();
      },
      (cells) => cells[4] === points && cells[5] === '1',
      LIVE_TIME_LIMIT_MS * 2,
    );

    // By keyboard alone.
    await page.getByRole('button', { name: 'Remove Grace Hopper' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('[name="confirmation"]:focus').waitFor();
    await expectAccessible(page);
    await page.keyboard.type('Grace Hopper');
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: /Grace Hopper/ }).waitFor({ state: 'hidden' });
    await page.getByRole('cell', { name: 'Former members' }).waitFor();

    await teammate.page.reload();
    await teammate.page.getByRole('heading', { name: 'Create a team' }).waitFor();
    await expectAccessible(teammate.page);
    expect(teammate.faults).toEqual([]);
    await teammate.close();
  });

  test('an invitation is withdrawn at once; leaving says who pays then, and asks for the name', async () => {
    const page = await journey.signedIn();
    const { demo } = journey.stack();
    const email = `withdrawn-${crypto.randomUUID()}@example.com`;
    await page.goto(teamPage());
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Email').press('Enter');
    await page.getByRole('button', { name: `Withdraw the invitation of ${email}` }).click();
    await page.getByRole('cell', { name: email, exact: true }).waitFor({ state: 'hidden' });

    const member = await openTab(journey.browser(), teamPage(), { colorScheme: 'dark', width: 390 });
    await member.page.getByLabel('Email').fill(demo.member.email);
    await member.page.getByLabel('Password', { exact: true }).fill(demo.member.password);
    await member.page.getByRole('button', { name: 'Sign in' }).click();
    await member.page.getByRole('button', { name: 'Leave team' }).click();
    await member.page.getByRole('dialog').getByText('your calls are charged to your own plan').waitFor();
    await expectAccessible(member.page);
    await member.page.keyboard.press('Escape');
    expect(member.faults).toEqual([]);
    await member.close();
  });
}
