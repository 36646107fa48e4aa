import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startAccount } from '../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../test/suite/account-under-test.ts';
import { brandFiles } from './brand.ts';

const HEAD =
  '<head><meta name="application-name" content="Tollgate"><title>Tollgate</title><link rel="icon" href="/user/assets/mark.svg"></head>';
const LOGO = '<svg xmlns="http://www.w3.org/2000/svg"/>';

let directory: string;
let suite: AccountUnderTest;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-brand-'));
  mkdirSync(join(directory, 'assets'));
  writeFileSync(join(directory, 'index.html'), HEAD);
  writeFileSync(join(directory, 'preloads.json'), '{}');
  writeFileSync(join(directory, 'logo.svg'), LOGO);
  suite = await startAccount({
    settings: {
      CONSOLE_DIR: directory,
      PRODUCT_NAME: 'Data & "Sons" <script>$&',
      PRODUCT_LOGO_PATH: join(directory, 'logo.svg'),
      ACCENT_COLOR: '#c2410c',
      DOCS_URL: 'https://docs.example/?a="1"&b',
      SUPPORT_URL: 'mailto:support@example.com',
    },
  });
});

afterAll(async () => {
  await suite.close();
  rmSync(directory, { recursive: true });
});

const get = (path: string) => fetch(`${suite.account.publicUrl}${path}`);

describe('the brand of the company that runs it', () => {
  test('its name, logo and colour are in the head of every page, escaped', async () => {
    expect(await (await get('/user/sign-in')).text()).toBe(
      '<head><meta name="application-name" content="Data &amp; &quot;Sons&quot; &lt;script>$&amp;">' +
        '<title>Data &amp; &quot;Sons&quot; &lt;script>$&amp;</title><link rel="icon" href="/user/logo">' +
        '<link rel="stylesheet" href="/user/accent.css">' +
        '<meta name="docs-url" content="https://docs.example/?a=&quot;1&quot;&amp;b">' +
        '<meta name="support-url" content="mailto:support@example.com"></head>',
    );
  });

  test('the logo is served so that it can run nothing', async () => {
    const response = await get('/user/logo');
    expect(response.headers.get('content-type')).toMatch('image/svg+xml');
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none';.*sandbox$/);
    expect(await response.text()).toBe(LOGO);
  });

  test('the colour is one custom property', async () => {
    const response = await get('/user/accent.css');
    expect(response.headers.get('content-type')).toMatch('text/css');
    expect(await response.text()).toBe(':root { --brand: #c2410c; }\n');
  });

  test.each([
    { problem: 'is not there', path: 'missing.svg', message: 'ENOENT' },
    { problem: 'is no image', path: 'index.html', message: 'must name a .svg or .png file' },
  ])('account does not start with a logo that $problem', ({ path, message }) => {
    const brand = {
      productName: 'Tollgate',
      logoPath: join(directory, path),
      accentColor: undefined,
      docsUrl: undefined,
      supportUrl: undefined,
    };
    expect(() => brandFiles(brand)).toThrow(message);
  });
});
