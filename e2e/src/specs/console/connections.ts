import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectAccessible, openTab } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import { eventually, postGraphql, postToken } from '../../caller.ts';
import { LIVE_TIME_LIMIT_MS, QUERY } from './journey.ts';
import type { Journey } from './journey.ts';

/** A program on the person's computer, which the browser comes back to. */
async function startProgram(): Promise<{ callback: string; answer: Promise<URL>; server: Server }> {
  let came: (to: URL) => void;
  const answer = new Promise<URL>((resolve) => {
    came = resolve;
  });
  const server = createServer((req, res) => {
    const to = new URL(req.url ?? '', 'http://127.0.0.1');
    res.end('Connected.');
    if (to.pathname === '/callback') came(to);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { callback: `http://127.0.0.1:${String(port)}/callback`, answer, server };
}

/** An application that acts for other people, from its creation to its end by the person. */
export function connectionJourneys(journey: Journey): void {
  const makeApplication = async (page: Page): Promise<string> => {
    await page.getByRole('button', { name: '+ New Application' }).first().click();
    await page.getByLabel('Name').fill('Chart maker');
    await page.getByRole('radio', { name: 'Authorization' }).check();
    await page.getByLabel('Where it runs').selectOption('public');
    await page.getByLabel('Redirect URIs').fill('http://app.example/callback');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.locator('[name="redirect_uris"][aria-invalid="true"]:focus').waitFor();
    await expectAccessible(page);
    await page.getByLabel('Redirect URIs').fill('http://127.0.0.1/callback com.example.charts:/callback');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Chart maker' }).waitFor();
    await page.getByText('a public client without a client secret').waitFor();
    await expectAccessible(page);
    return page
      .locator('code')
      .filter({ hasText: /^[0-9a-f-]{36}$/ })
      .first()
      .innerText();
  };

  test('connect an application by keyboard: it calls the API for the member, until the member disconnects it', async () => {
    const { demo, kind } = journey.stack();
    // Containers don't know their address outside, which the answer goes through.
    if (kind !== 'processes') return;
    const manager = await journey.signedIn();
    const client_id = await makeApplication(manager);
    const verifier = randomBytes(32).toString('base64url');
    const { callback, answer, server } = await startProgram();
    const asked = new URLSearchParams({
      response_type: 'code',
      client_id,
      redirect_uri: callback,
      scope: 'api',
      state: 'from-the-program',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    const { origin } = new URL(demo.console.url);
    const tab = await openTab(journey.browser(), `${origin}/oauth2/authorize?${asked.toString()}`, {
      width: 390,
      colorScheme: 'dark',
    });
    try {
      const { page } = tab;
      await page.getByLabel('Email').fill(demo.member.email);
      await page.getByLabel('Password', { exact: true }).fill(demo.member.password);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Connect Chart maker?' }).waitFor();
      await page.getByText('A program on this computer').waitFor();
      await page.getByText('hasn’t verified this application').waitFor();
      await page.getByText(/points of the team/).waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Deny' }).focus();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      const to = await answer;
      expect(Object.fromEntries(to.searchParams)).toMatchObject({
        state: 'from-the-program',
        iss: demo.streaming_url,
      });

      const token = await postToken(demo.auth_url, {
        grant_type: 'authorization_code',
        client_id,
        code: to.searchParams.get('code') ?? '',
        redirect_uri: callback,
        code_verifier: verifier,
      });
      const { access_token } = (await token.json()) as { access_token: string };
      const call = await postGraphql(demo, access_token, QUERY);
      expect(call.status).toBe(200);
      await call.arrayBuffer();

      await manager.goto(`${demo.console.url}/team`);
      const ofTeam = manager.getByRole('region', { name: 'Connected applications', exact: true });
      await ofTeam.getByRole('button', { name: /^Disconnect Chart maker of / }).waitFor();
      await expectAccessible(manager);

      await page.goto(`${demo.console.url}/connections`);
      await page
        .getByRole('rowheader', { name: 'Chart maker' })
        .or(page.getByText('Chart maker'))
        .first()
        .waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Disconnect Chart maker' }).click();
      await page.getByRole('dialog', { name: 'Disconnect Chart maker?' }).waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Disconnect', exact: true }).click();
      await page.getByRole('heading', { name: 'No connected applications' }).waitFor();
      await expectAccessible(page);
      await eventually(
        async () => (await postGraphql(demo, access_token, QUERY)).status,
        (status) => status === 401,
        LIVE_TIME_LIMIT_MS,
      );

      // The manager forbids it for all, and allows it again.
      await ofTeam.getByRole('button', { name: 'Forbid connected applications' }).click();
      await expectAccessible(manager);
      await manager.getByRole('dialog').getByRole('button', { name: 'Forbid' }).click();
      await ofTeam.getByText('Forbidden', { exact: true }).waitFor();
      await page.goto(`${origin}/oauth2/authorize?${asked.toString()}`);
      await page.getByText('Your team doesn’t allow applications to act for its members.').waitFor();
      expect(await page.getByRole('button', { name: 'Allow' }).isDisabled()).toBe(true);
      await expectAccessible(page);
      await ofTeam.getByRole('button', { name: 'Allow connected applications' }).click();
      await ofTeam.getByText('Members can connect applications.').waitFor();

      // The request was answered, so its page says so; a wrong one is told to the person alone.
      await page.goBack();
      await page.goto(`${origin}/user/connect/${'x'.repeat(43)}`);
      await page.getByRole('heading', { name: 'This request is over' }).waitFor();
      await expectAccessible(page);
      asked.set('redirect_uri', 'https://evil.example/');
      await page.goto(`${origin}/oauth2/authorize?${asked.toString()}`);
      await page.getByRole('heading', { name: 'The application’s request is wrong' }).waitFor();
      await expectAccessible(page);
      expect(await page.getByRole('link').count()).toBe(0);
      expect(tab.faults).toEqual([]);
    } finally {
      await tab.close();
      server.close();
    }
  });
}
