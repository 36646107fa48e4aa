import { writeFileSync } from 'node:fs';

/** A file that couldn't run counts as one failed test. */
export type FileResult = {
  file: string;
  /** Undefined where the configuration has no projects. */
  project?: string | undefined;
  passed: number;
  failed: number;
  /** What the groups of the failed tests are called, or such a test that is in none. */
  failedGroups: string[];
  seconds: number;
};

type TestResult = {
  testFilePath: string;
  displayName?: { name: string };
  numPassingTests: number;
  numFailingTests: number;
  testExecError?: unknown;
  testResults: readonly { fullName: string; ancestorTitles: readonly string[]; status: string }[];
  perfStats: { start: number; end: number };
};

/** Writes FileResults to --outputFile, because Jest's own JSON doesn't tell a file's project. */
export default function resultsReporter({ outputFile }: { outputFile: string }) {
  return {
    onRunComplete: (_contexts: unknown, { testResults }: { testResults: readonly TestResult[] }) => {
      writeFileSync(outputFile, JSON.stringify(testResults.map(fileResult)));
    },
  };
}

function fileResult(result: TestResult): FileResult {
  const { testFilePath, displayName, numPassingTests, numFailingTests, testExecError, perfStats } = result;
  const failedTests = result.testResults.filter(({ status }) => status === 'failed');
  return {
    file: testFilePath,
    project: displayName?.name,
    passed: numPassingTests,
    failed: Math.max(numFailingTests, testExecError === undefined || testExecError === null ? 0 : 1),
    failedGroups: [...new Set(failedTests.map(groupOf))],
    seconds: Math.max(perfStats.end - perfStats.start, 0) / 1_000,
  };
}

function groupOf({ fullName, ancestorTitles }: TestResult['testResults'][number]): string {
  return ancestorTitles.length === 0 ? fullName : ancestorTitles.join(' ');
}
