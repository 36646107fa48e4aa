import { expect } from '@jest/globals';
import type { Locator, Page, Request } from 'playwright-core';
import { expectAccessible } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import type { Journey } from './journey.ts';

type FormCase = {
  form: string;
  path: string;
  isSignedOut?: true;
  /** What is pressed until the form is there. */
  press?: readonly string[];
  /** What each of its fields says when the form is sent empty, the first one first. */
  empty: Readonly<Record<string, string>>;
  /** What a field says of a wrong value when it is left. */
  wrong?: readonly [field: string, value: string, message: string];
};

const EMPTY = 'Fill in this field.';
const NO_EMAIL = 'Enter an email address.';
const NO_PASSWORD = 'Enter a password.';
const WRONG_EMAIL = 'Enter an email address, such as name@example.com.';
const SHORT = 'Use at least 8 characters.';

const LINK_TOKEN = 'x'.repeat(43);

/** Forms with a field to fill in. Those of two-factor sign-in need a second device: account.ts walks them. */
const FORMS: readonly FormCase[] = [
  {
    form: 'sign in',
    path: 'sign-in',
    isSignedOut: true,
    empty: { email: NO_EMAIL, password: NO_PASSWORD },
    wrong: ['email', 'ada@', WRONG_EMAIL],
  },
  {
    form: 'sign up',
    path: 'sign-up',
    isSignedOut: true,
    empty: { name: EMPTY, email: NO_EMAIL },
    wrong: ['email', 'ada', WRONG_EMAIL],
  },
  {
    form: 'finish signing up',
    path: `verify-email?for=sign-up&token=${LINK_TOKEN}`,
    isSignedOut: true,
    empty: { password: NO_PASSWORD },
    wrong: ['password', '1234567', SHORT],
  },
  {
    form: 'forgotten password',
    path: 'forgot-password',
    isSignedOut: true,
    empty: { email: NO_EMAIL },
    wrong: ['email', '@example.com', WRONG_EMAIL],
  },
  {
    form: 'new password by a link',
    path: `reset-password?token=${LINK_TOKEN}`,
    isSignedOut: true,
    empty: { password: NO_PASSWORD },
    wrong: ['password', '1234567', SHORT],
  },
  { form: 'name', path: 'account', press: ['Change name'], empty: { name: EMPTY } },
  {
    form: 'email address',
    path: 'account',
    press: ['Change email address'],
    empty: { email: NO_EMAIL, current_password: NO_PASSWORD },
    wrong: ['email', 'ada example.com', WRONG_EMAIL],
  },
  {
    form: 'password',
    path: 'account/security',
    press: ['Change password'],
    empty: { current_password: NO_PASSWORD, new_password: NO_PASSWORD },
    wrong: ['new_password', '1234567', SHORT],
  },
  {
    form: 'new application',
    path: 'api_v2/applications',
    press: ['+ New Application'],
    empty: { name: EMPTY },
  },
  { form: 'team name', path: 'team', press: ['Rename'], empty: { name: EMPTY } },
  { form: 'invitation', path: 'team', empty: { email: NO_EMAIL }, wrong: ['email', 'ada@', WRONG_EMAIL] },
  {
    form: 'end of the team',
    path: 'team',
    press: ['Dissolve team'],
    empty: { confirmation: EMPTY },
  },
  {
    form: 'alerts',
    path: 'alerts',
    empty: {},
    wrong: ['shares_own', '120', 'Enter a whole number from 1 to 100.'],
  },
  { form: 'new webhook', path: 'webhooks', press: ['+ New Webhook'], empty: { url: EMPTY } },
  { form: 'team slots', path: 'plan', empty: { team_slots_limit: EMPTY } },
];

/** What a field says to a screen reader beside its label: its hint or, instead of it, its message. */
function describedBy(input: Locator): Promise<string> {
  return input.evaluate((element) => {
    const ids = element.getAttribute('aria-describedby')?.split(' ') ?? [];
    return ids.flatMap((id) => document.getElementById(id)?.textContent ?? []).join(' ');
  });
}

/** Every form says what is wrong in sentences: at a field when it is left, at all of them when it is sent. */
export function formJourneys(journey: Journey): void {
  async function open({ path, press = [] }: FormCase, page: Page, first: string): Promise<Locator> {
    await page.goto(`${journey.stack().demo.console.url}/${path}`);
    for (const name of press) await page.getByRole('button', { name, exact: true }).first().click();
    const form = page.locator('form', { has: page.locator(`[name="${first}"]`) });
    await form.waitFor();
    return form;
  }

  async function walk(one: FormCase, page: Page): Promise<void> {
    const changes: string[] = [];
    const note = (request: Request) => {
      if (!['GET', 'HEAD'].includes(request.method())) changes.push(request.url());
    };
    const [first = one.wrong?.[0] ?? ''] = Object.keys(one.empty);
    if (one.wrong !== undefined) {
      const [field, value, message] = one.wrong;
      const input = (await open(one, page, first)).locator(`[name="${field}"]`);
      await input.fill(value);
      await page.keyboard.press('Tab');
      await page.getByText(message, { exact: true }).waitFor();
      expect([one.form, await describedBy(input)]).toEqual([one.form, message]);
    }
    const form = await open(one, page, first);
    for (const name of Object.keys(one.empty)) await form.locator(`[name="${name}"]`).fill('');
    if (Object.keys(one.empty).length > 0) {
      page.on('request', note);
      await form.locator('button[type="submit"]').click();
      await page.locator(`[name="${first}"][aria-invalid="true"]:focus`).waitFor();
    }
    const said: Record<string, string> = {};
    for (const name of Object.keys(one.empty))
      said[name] = await describedBy(form.locator(`[name="${name}"]`));
    expect([one.form, said]).toEqual([one.form, one.empty]);
    // The longest address (RFC 5321).
    for (const email of await form.locator('input[type="email"]').all())
      expect([one.form, await email.getAttribute('maxlength')]).toEqual([one.form, '254']);
    await expectAccessible(page);
    // Nothing is asked of the API that the page knows to be wrong.
    expect([one.form, changes]).toEqual([one.form, []]);
    page.off('request', note);
  }

  test('before a sign-in, each form says what is wrong, in sentences, and takes the focus there', async () => {
    const { page } = journey.tab();
    for (const one of FORMS.filter(({ isSignedOut }) => isSignedOut)) await walk(one, page);
  });

  test('after it, each form says what is wrong, in sentences, and takes the focus there', async () => {
    const page = await journey.signedIn();
    for (const one of FORMS.filter(({ isSignedOut }) => !isSignedOut)) await walk(one, page);
  });
}
