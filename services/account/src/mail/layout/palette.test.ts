import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { DARK, LIGHT } from './palette.ts';

const TOKENS = 'packages/console/src/styles/tokens.css';

test("mails have the interface's colours, with the accent that it has by default", () => {
  const css = readFileSync(TOKENS, 'utf8');
  const [, chroma = '', hue = ''] = /--brand: oklch\(\S+ (\S+) (\S+)\)/.exec(css) ?? [];
  const stated = css
    .replaceAll(/from var\(--brand\) (\S+) min\(c, (\S+)\) h/g, (_, lightness: string, limit: string) =>
      [lightness, Math.min(Number(chroma), Number(limit)), hue].join(' '),
    )
    .replaceAll(/\s+/g, ' ');
  for (const name of Object.keys(LIGHT) as (keyof typeof LIGHT)[]) {
    const token = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const pair = new RegExp(`--${token}: light-dark\\( ?oklch\\(([^)]*)\\), oklch\\(([^)]*)\\) ?\\)`).exec(
      stated,
    );
    expect([name, LIGHT[name], DARK[name]]).toEqual([name, hexOf(pair?.[1]), hexOf(pair?.[2])]);
  }
});

/** Björn Ottosson's OKLab, to sRGB (https://bottosson.github.io/posts/oklab). */
function hexOf(oklch = ''): string {
  const [lightness = 0, chroma = 0, hue = 0] = oklch.replace('%', '').split(' ').map(Number);
  const angle = (hue * Math.PI) / 180;
  const [a, b] = [chroma * Math.cos(angle), chroma * Math.sin(angle)];
  const l = (lightness / 100 + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness / 100 - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness / 100 - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  return `#${linear.map(channelOf).join('')}`;
}

function channelOf(linear: number): string {
  const encoded = linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;
  return Math.round(Math.min(1, Math.max(0, encoded)) * 255)
    .toString(16)
    .padStart(2, '0');
}
