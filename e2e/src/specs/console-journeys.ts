import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { browserPath, launchBrowser } from '../browser/browser.ts';
import { openEmptyTab, signIn } from '../browser/console-page.ts';
import type { ConsoleTab } from '../browser/console-page.ts';
import type { Stack } from '../stack/stack.ts';
import { accountJourneys } from './console/account.ts';
import { applicationJourneys, firstApplicationJourney } from './console/applications.ts';
import { budgetJourneys } from './console/budgets.ts';
import { connectionJourneys } from './console/connections.ts';
import { datesJourneys } from './console/dates.ts';
import { deletionJourneys } from './console/deletion.ts';
import { docsJourneys } from './console/docs.ts';
import { entryJourneys } from './console/entry.ts';
import { everyPageJourneys } from './console/every-page.ts';
import { explorerJourneys } from './console/explorer.ts';
import { formJourneys } from './console/forms.ts';
import { firefoxJourneys } from './console/firefox.ts';
import { firstCallJourneys } from './console/first-call.ts';
import { applicationsPage } from './console/journey.ts';
import type { Journey } from './console/journey.ts';
import { longNameJourneys } from './console/long-names.ts';
import { overageJourneys } from './console/overage.ts';
import { limitJourneys, planJourneys } from './console/plan.ts';
import { unpaidRenewalJourneys } from './console/unpaid-renewal.ts';
import { operationJourneys } from './console/operations.ts';
import { customerViewJourneys } from './console/customer-views.ts';
import { operatorPageJourneys } from './console/operator-pages.ts';
import { operatorJourneys } from './console/operators.ts';
import { requestJourneys } from './console/requests.ts';
import { liveFeedJourney, liveJourneys, restartedFeedJourney } from './console/live.ts';
import { scrollBarJourneys } from './console/scroll-bar.ts';
import { searchJourneys } from './console/search.ts';
import { sessionJourneys } from './console/sessions.ts';
import { ssoJourneys } from './console/sso.ts';
import { teamJourneys } from './console/team.ts';
import { webhookJourneys } from './console/webhooks.ts';
import { topUpJourneys } from './console/top-up.ts';
import { trustedDocumentJourneys } from './console/trusted-documents.ts';
import { usageJourneys } from './console/usage.ts';

export type Journeys = Readonly<Record<string, (journey: Journey) => void>>;

/** Each list has half of the time of all. */
export const PEOPLE_JOURNEYS = {
  entry: entryJourneys,
  'first call': firstCallJourneys,
  applications: applicationJourneys,
  team: teamJourneys,
  'single sign-on': ssoJourneys,
  budgets: budgetJourneys,
  'trusted documents': trustedDocumentJourneys,
  'top-up': topUpJourneys,
  'alerts and webhooks': webhookJourneys,
  live: liveJourneys,
} satisfies Journeys;

export const PAGE_JOURNEYS = {
  'every page': everyPageJourneys,
  'every page in Firefox': firefoxJourneys,
  'the scroll bar': scrollBarJourneys,
  search: searchJourneys,
  "the customers' book": docsJourneys,
  'a replaced session': sessionJourneys,
  plan: planJourneys,
  limits: limitJourneys,
  'further points': overageJourneys,
  'unpaid renewal': unpaidRenewalJourneys,
  account: accountJourneys,
  deletion: deletionJourneys,
  dates: datesJourneys,
  forms: formJourneys,
  'long names': longNameJourneys,
  requests: requestJourneys,
  'connected applications': connectionJourneys,
  operations: operationJourneys,
  explorer: explorerJourneys,
  'usage over time': usageJourneys,
  operators: operatorJourneys,
  'pages of operators': operatorPageJourneys,
  'views of customers': customerViewJourneys,
} satisfies Journeys;

/** Built pages, the API and live connections: what a deployment can break. */
export const DEPLOYED_JOURNEYS = {
  applications: firstApplicationJourney,
  live: (journey) => {
    liveFeedJourney(journey);
    restartedFeedJourney(journey);
  },
} satisfies Journeys;

/** A cluster's own specs kill account under load; how the page takes that is left to the containers. */
export const CLUSTER_JOURNEYS = {
  applications: firstApplicationJourney,
  live: liveFeedJourney,
} satisfies Journeys;

/** The web interface in a real browser: what a customer does there, and what follows at the API. */
export function consoleJourneys(stack: () => Stack, journeys: Journeys): void {
  // A machine without a browser leaves the journeys out; CI demands one.
  const isLeftOut = browserPath === undefined && process.env['REQUIRE_BROWSER'] !== '1';
  (isLeftOut ? describe.skip : describe)('the web interface', () => {
    let browser: Browser;
    let tab: ConsoleTab;

    beforeAll(async () => {
      browser = await launchBrowser();
    });

    beforeEach(async () => {
      tab = await openEmptyTab(browser, stack().demo.console.url);
    });

    afterEach(async () => {
      const { faults } = tab;
      await tab.close();
      expect(faults).toEqual([]);
    });

    afterAll(() => browser.close());

    const journey = {
      stack,
      browser: () => browser,
      tab: () => tab,
      signedIn: async () => {
        await tab.page.goto(applicationsPage({ stack }));
        await signIn(tab.page, stack());
        await tab.page.getByRole('heading', { name: 'Applications' }).waitFor();
        return tab.page;
      },
    };

    for (const [name, of] of Object.entries(journeys)) {
      describe(name, () => {
        of(journey);
      });
    }
  });
}
