import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible, openTab, untilLoaded } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { eventually, obtainToken, postGraphql, readUsage } from '../../caller.ts';
import type { Demo, DemoApplication } from '../../stack/stack.ts';
import { mailedLink } from '../../mailed-link.ts';
import { operate } from '../../operate.ts';
import { LIVE_TIME_LIMIT_MS, QUERY, applicationsPage, chooseAction, clipboard, signUp } from './journey.ts';
import type { Journey } from './journey.ts';
import { sellPlan } from './sold-plan.ts';

const PASSWORD = 'correct horse battery';

/** The team: who is in it, and who pays. */
export function teamJourneys(journey: Journey): void {
  const teamPage = () => `${journey.stack().demo.console.url}/team`;

  test('a member is made a viewer, who creates nothing, and then one who manages the billing', async () => {
    const page = await journey.signedIn();
    const { demo } = journey.stack();
    await page.goto(teamPage());
    const row = page.getByRole('row').filter({ hasText: demo.member.email });
    const name = await row.getByRole('rowheader').innerText();
    const setRole = async (role: string) => {
      await chooseAction(page, name, 'Change role');
      const dialog = page.getByRole('dialog', { name: `Role of ${name}` });
      await dialog.getByRole('radio', { name: role }).check();
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'Change role' }).click();
      await dialog.waitFor({ state: 'hidden' });
      await row.getByText(role, { exact: true }).waitFor();
    };
    await row.getByText('Developer', { exact: true }).waitFor();
    await setRole('Viewer');

    const { page: member, ...tab } = await openTab(journey.browser(), applicationsPage(journey), {
      colorScheme: 'dark',
      width: 390,
    });
    await member.getByLabel('Email').fill(demo.member.email);
    await member.getByLabel('Password', { exact: true }).fill(demo.member.password);
    await member.getByRole('button', { name: 'Sign in', exact: true }).click();
    await member.getByText('As a viewer of your team, you can’t create applications.').first().waitFor();
    expect(await member.getByRole('button', { name: '+ New Application' }).count()).toBe(0);
    await expectAccessible(member);
    await member.goto(teamPage());
    await untilLoaded(member);
    await member.getByText('What each role may do').click();
    await expectAccessible(member);

    await setRole('Billing');
    await member.goto(`${demo.console.url}/plan`);
    await member.getByText('You manage the billing of your team').waitFor();
    await expectAccessible(member);

    const endSubscription = await subscribeMember(demo);
    await member.reload();
    const own = member.getByRole('region', { name: 'Your own subscription' });
    await own.getByRole('button', { name: 'Cancel your own plan' }).click();
    const dialog = member.getByRole('dialog', { name: /^Cancel .+\?$/ });
    await dialog.getByText('Your team pays for your calls.').waitFor();
    await expectAccessible(member);
    await dialog.getByRole('button', { name: 'Cancel plan' }).click();
    await own.getByText('is cancelled').waitFor();
    // The team's plan beside it renews as before.
    await member.getByRole('button', { name: 'Cancel plan', exact: true }).waitFor();
    await setRole('Developer');
    await member.reload();
    await member.getByText('Only they, and members with the role Billing, can change the plan.').waitFor();
    await member.emulateMedia({ colorScheme: 'light' });
    await expectAccessible(member);
    await own.getByRole('button', { name: 'Resume your own plan' }).click();
    await own.getByText(/renews every month/).waitFor();
    await endSubscription();
    expect(tab.faults).toEqual([]);
    await tab.close();
  });

  test('a domain is added, shows its DNS record, is checked and removed', async () => {
    const page = await journey.signedIn();
    const domain = `company-${crypto.randomUUID()}.example`;
    await page.goto(teamPage());
    await page.getByLabel('Domain', { exact: true }).fill('gmail.com');
    await page.getByRole('button', { name: 'Add domain' }).click();
    await page.locator('[name="domain"][aria-invalid="true"]:focus').waitFor();
    await page.getByLabel('Domain', { exact: true }).fill(domain);
    await page.getByRole('button', { name: 'Add domain' }).click();
    const record = page.getByRole('dialog', { name: `DNS record of ${domain}` });
    await record.getByText(`_tollgate-challenge.${domain}`).waitFor();
    await record.getByText('tollgate-domain-verification=').waitFor();
    await record.getByRole('button', { name: 'Check now' }).click();
    // No one has registered it.
    await record.getByText('DNS didn’t answer for this domain.').waitFor();
    await expectAccessible(page);
    await record.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('row').filter({ hasText: domain }).getByText('Not verified').waitFor();
    await chooseAction(page, domain, 'Remove');
    const removal = page.getByRole('dialog', { name: `Remove ${domain}?` });
    await expectAccessible(page);
    await removal.getByRole('button', { name: 'Remove domain' }).click();
    await page.getByRole('row').filter({ hasText: domain }).waitFor({ state: 'detached' });
    await expectAccessible(page);
  });

  test('a token for the directory is created, used, shown with its refusal, and provisioning is switched off', async () => {
    const page = await journey.signedIn();
    await page.goto(teamPage());
    const card = page.getByRole('region', { name: 'Provisioning', exact: true });
    await card.getByText('the directory can add only people of your domains').waitFor();
    await card.getByRole('button', { name: 'Create token' }).click();
    const shown = page.getByRole('dialog', { name: 'Token for your directory' });
    await shown.getByText('It is shown only once').waitFor();
    await expectAccessible(page);
    await shown.getByRole('button', { name: 'Copy token' }).click();
    const token = await eventually(
      () => clipboard(page),
      (text) => text.startsWith('tgscim_'),
      LIVE_TIME_LIMIT_MS,
    );
    await shown.getByRole('button', { name: 'Done' }).click();
    const refused = await fetch(new URL('/scim/v2/Users', journey.stack().demo.console.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      body: JSON.stringify({ userName: 'someone@unproven.example' }),
    });
    expect([refused.status, await refused.json()]).toEqual([
      400,
      expect.objectContaining({ scimType: 'invalidValue' }),
    ]);
    await page.reload();
    await card.getByText('POST /Users: 400').waitFor();
    await card.getByRole('button', { name: 'Roles of groups' }).click();
    const roles = page.getByRole('dialog', { name: 'Roles of groups' });
    await roles.getByLabel('Another group, as the directory names it').fill('Finance');
    await expectAccessible(page);
    await roles.getByRole('button', { name: 'Save roles' }).click();
    await roles.waitFor({ state: 'hidden' });
    await card.getByRole('button', { name: 'Roles of groups' }).click();
    expect(await roles.getByLabel('Finance').inputValue()).toBe('billing');
    await roles.getByRole('button', { name: 'Cancel' }).click();
    await chooseAction(page, 'token', 'Revoke');
    const revocation = page.getByRole('dialog', { name: 'Revoke the token?' });
    await revocation.getByRole('button', { name: 'Revoke token' }).click();
    await card.getByText('There is no token').waitFor();
    await expectAccessible(page);
    await card.getByRole('button', { name: 'Switch off' }).click();
    const end = page.getByRole('dialog', { name: 'Switch provisioning off?' });
    await end.getByRole('radio', { name: 'Keep the people' }).waitFor();
    await expectAccessible(page);
    await end.getByRole('button', { name: 'Switch off' }).click();
    await card.getByRole('button', { name: 'Roles of groups' }).waitFor({ state: 'detached' });
  });

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
    await teammate.page.getByRole('button', { name: 'Sign up' }).click();
    await teammate.page.getByRole('heading', { name: 'Check your email' }).waitFor();
    await teammate.page.goto(await mailedLink(journey, email, 'verify-email'));
    await teammate.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await teammate.page.getByRole('button', { name: 'Finish signing up' }).click();
    await teammate.page.getByRole('heading', { name: 'Overview' }).waitFor();
    await teammate.page.goto(invitation);
    await teammate.page.getByRole('button', { name: `Accept as ${email}` }).click();
    await teammate.page.getByRole('heading', { name: 'You joined the team' }).waitFor();
    await teammate.page.goto(teamPage());
    await teammate.page.getByText(`(${demo.console.email})`).first().waitFor();
    await expectAccessible(teammate.page);

    const application = await newApplication(teammate.page, demo);
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
      (cells) => cells[3] === points && cells[4] === '1',
      LIVE_TIME_LIMIT_MS * 2,
    );

    // By keyboard alone.
    await chooseAction(page, 'Grace Hopper', 'Remove');
    await page.locator('[name="confirmation"]:focus').waitFor();
    await expectAccessible(page);
    await page.keyboard.type('Grace Hopper');
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: /Grace Hopper/ }).waitFor({ state: 'hidden' });
    await page.getByRole('rowheader', { name: 'Former members' }).waitFor();

    await teammate.page.reload();
    await teammate.page.getByRole('heading', { name: 'Create a team' }).waitFor();
    await expectAccessible(teammate.page);
    expect(teammate.faults).toEqual([]);
    await teammate.close();
  });

  test('hand over by keyboard, then dissolve: who pays for the next call', async () => {
    const { page } = await signUp(journey, `first-${crypto.randomUUID()}@example.com`);
    const { demo } = journey.stack();
    const token = await obtainToken(demo, await newApplication(page, demo));
    // The trial has no slot for another member.
    await sellPlan(journey, page, 'Starter');
    await page.goto(teamPage());
    await page.getByLabel('Name').fill('Relay');
    await page.getByRole('button', { name: 'Create team' }).click();
    const email = `second-${crypto.randomUUID()}@example.com`;
    const tab = await openTab(journey.browser(), `${demo.console.url}/sign-in`, {
      colorScheme: 'dark',
      width: 390,
    });
    // Before the invitation: who is invited gets no trial of their own.
    await signUp({ ...journey, tab: () => tab }, email);
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Email').press('Enter');
    await page.getByText(`Invitation sent to ${email}.`).waitFor();

    await tab.page.goto(await mailedLink(journey, email, 'invitation'));
    await tab.page.getByRole('button', { name: `Accept as ${email}` }).click();
    await tab.page.getByRole('heading', { name: 'You joined the team' }).waitFor();

    await page.reload();
    await chooseAction(page, 'Ada', 'Make manager');
    await page.locator('[name="confirmation"]:focus').waitFor();
    await expectAccessible(page);
    await page.keyboard.type('Ada');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Leave team' }).waitFor();
    await page.getByText(`(${email})`).first().waitFor();
    await expectAccessible(page);
    const payers = async () => {
      const { account_id, payer_id } = await readUsage(demo, token);
      return { paysOneself: account_id === payer_id };
    };
    expect(await payers()).toEqual({ paysOneself: false });

    await tab.page.goto(teamPage());
    await untilLoaded(tab.page);
    await tab.page.getByRole('button', { name: 'Dissolve team' }).click();
    await tab.page.getByRole('dialog').getByText('1 member loses your plan').waitFor();
    await expectAccessible(tab.page);
    await tab.page.keyboard.type('Relay');
    await tab.page.keyboard.press('Enter');
    await tab.page.getByRole('heading', { name: 'Create a team' }).waitFor();
    expect(await payers()).toEqual({ paysOneself: true });
    await page.reload();
    await page.getByRole('heading', { name: 'Create a team' }).waitFor();
    expect(tab.faults).toEqual([]);
    await tab.close();
  });

  test('an invitation is withdrawn at once; leaving says who pays then, and asks for the name', async () => {
    const page = await journey.signedIn();
    const { demo } = journey.stack();
    const email = `withdrawn-${crypto.randomUUID()}@example.com`;
    await page.goto(teamPage());
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Email').press('Enter');
    await page.getByRole('button', { name: `Withdraw the invitation of ${email}` }).click();
    await page.getByRole('rowheader', { name: email, exact: true }).waitFor({ state: 'hidden' });

    const member = await openTab(journey.browser(), teamPage(), { colorScheme: 'dark', width: 390 });
    await member.page.getByLabel('Email').fill(demo.member.email);
    await member.page.getByLabel('Password', { exact: true }).fill(demo.member.password);
    await member.page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await member.page.getByRole('button', { name: 'Leave team' }).click();
    await member.page.getByRole('dialog').getByText('your calls are charged to your own plan').waitFor();
    await expectAccessible(member.page);
    await member.page.keyboard.press('Escape');
    expect(member.faults).toEqual([]);
    await member.close();
  });
}

/** An application of the account that is signed in. */
async function newApplication(page: Page, demo: Demo): Promise<DemoApplication> {
  const { origin } = new URL(demo.console.url);
  const session = await page.request.get(`${origin}/api/console/session`);
  const { csrf_token } = (await session.json()) as { csrf_token: string };
  const made = await page.request.post(`${origin}/api/console/applications`, {
    headers: { 'x-csrf-token': csrf_token },
    data: { name: 'Compiler', type: 'automatic', token_lifespan_sec: 3_600 },
  });
  return (await made.json()) as DemoApplication;
}

/** What a member has who subscribed before they joined. Returns what ends it. */
async function subscribeMember(demo: Demo): Promise<() => Promise<unknown>> {
  const { plans } = await operate<{ plans: { plan_id: number }[] }>(
    demo,
    'GET',
    '/private/plans?public=true',
  );
  const { subscription_id } = await operate<{ subscription_id: number }>(
    demo,
    'POST',
    '/private/subscriptions',
    { account_id: demo.member.account_id, plan_id: plans[0]?.plan_id, billing_interval: 'month' },
  );
  const path = `/private/subscriptions/${String(subscription_id)}/cancel`;
  return () => operate(demo, 'POST', path, { effective: 'now' });
}
