import { test as jestTest } from '@jest/globals';
import { describeTabs } from './console-page.ts';

/** As jest's; a failure also tells what the open tabs showed. */
export function test(name: string, journey: () => Promise<void>, timeoutMs?: number): void {
  jestTest(
    name,
    async () => {
      try {
        await journey();
      } catch (error) {
        console.info(await describeTabs());
        throw error;
      }
    },
    timeoutMs,
  );
}
