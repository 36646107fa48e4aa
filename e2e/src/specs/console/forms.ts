import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test as plainTest } from '@jest/globals';
import type { Locator, Page, Request } from 'playwright-core';
import { expectAccessible, untilLoaded } from '../../browser/console-page.ts';
import { test } from '../../browser/journey-test.ts';
import type { Journey } from './journey.ts';

type FormCase = {
  form: string;
  /** Which file of the interface it is in. */
  module: string;
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

const FORMS: readonly FormCase[] = [
  {
    form: 'sign in',
    module: 'pages/entry/sign-in-form.tsx',
    path: 'sign-in',
    isSignedOut: true,
    empty: { email: NO_EMAIL, password: NO_PASSWORD },
    wrong: ['email', 'ada@', WRONG_EMAIL],
  },
  {
    form: 'sign up',
    module: 'pages/entry/sign-up.tsx',
    path: 'sign-up',
    isSignedOut: true,
    empty: { name: EMPTY, email: NO_EMAIL },
    wrong: ['email', 'ada', WRONG_EMAIL],
  },
  {
    form: 'finish signing up',
    module: 'pages/entry/verify-email.tsx',
    path: `verify-email?for=sign-up&token=${LINK_TOKEN}`,
    isSignedOut: true,
    empty: { password: NO_PASSWORD },
    wrong: ['password', '1234567', SHORT],
  },
  {
    form: 'forgotten password',
    module: 'pages/entry/link-by-email.tsx',
    path: 'forgot-password',
    isSignedOut: true,
    empty: { email: NO_EMAIL },
    wrong: ['email', '@example.com', WRONG_EMAIL],
  },
  {
    form: 'new password by a link',
    module: 'pages/entry/reset-password.tsx',
    path: `reset-password?token=${LINK_TOKEN}`,
    isSignedOut: true,
    empty: { password: NO_PASSWORD },
    wrong: ['password', '1234567', SHORT],
  },
  {
    form: 'name',
    module: 'pages/account/profile.tsx',
    path: 'account',
    press: ['Change name'],
    empty: { name: EMPTY },
  },
  {
    form: 'email address',
    module: 'pages/account/email-address.tsx',
    path: 'account',
    press: ['Change email address'],
    empty: { email: NO_EMAIL, current_password: NO_PASSWORD },
    wrong: ['email', 'ada example.com', WRONG_EMAIL],
  },
  {
    form: 'password',
    module: 'pages/account/password.tsx',
    path: 'account/security',
    press: ['Change password'],
    empty: { current_password: NO_PASSWORD, new_password: NO_PASSWORD },
    wrong: ['new_password', '1234567', SHORT],
  },
  {
    form: 'new application',
    module: 'pages/applications/new-application.tsx',
    path: 'api_v2/applications',
    press: ['+ New Application'],
    empty: { name: EMPTY },
  },
  {
    form: 'application',
    module: 'pages/applications/application-settings.tsx',
    path: 'api_v2/applications/:application_id',
    empty: { name: EMPTY },
  },
  {
    form: 'new token',
    module: 'pages/tokens/generate-token.tsx',
    path: 'api_v2/applications/:application_id',
    press: ['Generate New Token'],
    empty: { name: EMPTY },
  },
  {
    form: 'team name',
    module: 'pages/team/team.tsx',
    path: 'team',
    press: ['Rename'],
    empty: { name: EMPTY },
  },
  {
    form: 'invitation',
    module: 'pages/team/invite.tsx',
    path: 'team',
    empty: { email: NO_EMAIL },
    wrong: ['email', 'ada@', WRONG_EMAIL],
  },
  {
    form: 'domain',
    module: 'pages/team/domains.tsx',
    path: 'team',
    empty: { domain: EMPTY },
  },
  {
    form: 'single sign-on of a team',
    module: 'pages/team/single-sign-on.tsx',
    path: 'team',
    press: ['Set up single sign-on'],
    empty: { issuer: EMPTY, client_id: EMPTY, client_secret: EMPTY },
  },
  {
    form: 'single sign-on',
    module: 'pages/entry/sso/sso.tsx',
    path: 'sso',
    isSignedOut: true,
    empty: { email: NO_EMAIL },
    wrong: ['email', 'ada@', WRONG_EMAIL],
  },
  {
    form: 'end of the team',
    module: 'ui/form/confirm-by-name.tsx',
    path: 'team',
    press: ['Dissolve team'],
    empty: { confirmation: EMPTY },
  },
  {
    form: 'alerts',
    module: 'pages/alerts/alert-form.tsx',
    path: 'alerts',
    empty: {},
    wrong: ['shares_own', '120', 'Enter a whole number from 1 to 100.'],
  },
  {
    form: 'new webhook',
    module: 'pages/webhooks/new-webhook.tsx',
    path: 'webhooks',
    press: ['+ New Webhook'],
    empty: { url: EMPTY },
  },
  {
    form: 'team slots',
    module: 'pages/plan/team-slots.tsx',
    path: 'plan',
    empty: { team_slots_limit: EMPTY },
  },
];

const BY_ACCOUNT = 'needs a second device or an old session: account.ts';
const BY_OPERATORS = 'is in the console of operators, who sign in otherwise: operators.ts';
const BY_OPERATOR_PAGES = 'is in the console of operators: operator-pages.ts';
const NO_FIELD = 'has no field to fill in';

/** The other forms, and why they aren't above. */
const OTHERS: readonly (readonly [module: string, why: string])[] = [
  ['operator/pages/add-period.tsx', BY_OPERATORS],
  ['operator/pages/audit.tsx', BY_OPERATORS],
  ['operator/pages/customers.tsx', BY_OPERATORS],
  ['operator/pages/grant-credits.tsx', BY_OPERATORS],
  ['operator/pages/plan.tsx', BY_OPERATOR_PAGES],
  ['operator/pages/plans.tsx', BY_OPERATOR_PAGES],
  ['operator/pages/plans.tsx', BY_OPERATOR_PAGES],
  ['operator/pages/usage.tsx', BY_OPERATOR_PAGES],
  ['operator/pages/usage.tsx', BY_OPERATOR_PAGES],
  ['operator/pages/usage.tsx', BY_OPERATOR_PAGES],
  ['operator/pages/view-as.tsx', 'is in the console of operators: customer-views.ts'],
  ['pages/account/confirmation.tsx', BY_ACCOUNT],
  ['pages/account/confirmation.tsx', BY_ACCOUNT],
  ['pages/account/deletion/delete-account.tsx', 'is refused while one manages a team: deletion.ts'],
  ['pages/account/two-factor/authenticator-app.tsx', BY_ACCOUNT],
  ['pages/account/two-factor/passkeys.tsx', BY_ACCOUNT],
  ['pages/account/two-factor/passkeys.tsx', BY_ACCOUNT],
  ['pages/entry/second-step-form.tsx', BY_ACCOUNT],
  ['pages/applications/application-budget.tsx', 'its fields may be empty: budgets.ts'],
  ['pages/team/member-budget.tsx', 'its fields may be empty: budgets.ts'],
  ['pages/team/member-role.tsx', 'one of its options is always chosen: team.ts'],
  ['pages/plan/overage/overage-form.tsx', 'needs a plan that sells further points: overage.ts'],
  ['pages/plan/top-up/top-up-form.tsx', 'needs packs on sale: top-up.ts'],
  ['pages/requests/request-id-search.tsx', 'is a search: requests.ts'],
  ['pages/team/provisioning/end-provisioning.tsx', 'one of its options is always chosen: team.ts'],
  ['pages/team/provisioning/provisioning-roles.tsx', 'its fields may be empty: team.ts'],
  ['pages/team/provisioning/provisioning-tokens.tsx', NO_FIELD],
  ['pages/team/no-team.tsx', 'is shown without a team: team.ts'],
  ['pages/webhooks/webhook.tsx', 'has the fields of a new webhook: webhooks.ts'],
  ['operator/pages/confirmations.tsx', NO_FIELD],
  ['pages/account/sessions.tsx', NO_FIELD],
  ['pages/team/domains.tsx', NO_FIELD],
  ['pages/team/single-sign-on.tsx', NO_FIELD],
  ['pages/applications/rotate-secret.tsx', NO_FIELD],
  ['pages/entry/verify-email.tsx', NO_FIELD],
  ['pages/plan/confirm-plan.tsx', NO_FIELD],
  ['pages/plan/payment/buy-slots.tsx', NO_FIELD],
  ['pages/plan/payment/checkout-plan.tsx', NO_FIELD],
  ['pages/webhooks/signing-secret.tsx', NO_FIELD],
];

const CONSOLE_SOURCES = resolve(import.meta.dirname, '../../../../packages/console/src');

/** The file of each form in the interface, once for each form. */
function formsOfSources(): string[] {
  return readdirSync(CONSOLE_SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.tsx') && name !== 'ui/form/form.tsx')
    .flatMap((name) => {
      const forms = readFileSync(join(CONSOLE_SOURCES, name), 'utf8').matchAll(/<form\b/gi);
      return [...forms].map(() => name);
    });
}

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
    const { demo } = journey.stack();
    const shown = path.replace(':application_id', String(demo.application.application_id));
    await page.goto(`${demo.console.url}/${shown}`);
    if (press.length > 0) await untilLoaded(page);
    for (const name of press) await page.getByRole('button', { name, exact: true }).first().click();
    // A dialog comes after its page, which may have a form with such a field, too.
    const form = page.locator('form', { has: page.locator(`[name="${first}"]`) }).last();
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

  plainTest('every form of the interface is walked here, or has a reason not to be', () => {
    const known = [...FORMS.map(({ module }) => module), ...OTHERS.map(([module]) => module)];
    expect(formsOfSources().toSorted()).toEqual(known.toSorted());
  });

  test('before a sign-in, each form says what is wrong, in sentences, and takes the focus there', async () => {
    const { page } = journey.tab();
    for (const one of FORMS.filter(({ isSignedOut }) => isSignedOut)) await walk(one, page);
  });

  test('after it, each form says what is wrong, in sentences, and takes the focus there', async () => {
    const page = await journey.signedIn();
    for (const one of FORMS.filter(({ isSignedOut }) => !isSignedOut)) await walk(one, page);
  });
}
