/**
 * How Stripe writes amounts (docs.stripe.com/currencies, read 2026-11): in the minor unit, except as listed here. Never
 * from Intl, whose tables follow other rules.
 */
const ZERO_DECIMALS = new Set('bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' '));

const THREE_DECIMALS = new Set('bhd jod kwd omr tnd'.split(' '));

/** Without a minor unit of their own, but written with two decimals, which are zeros. */
const WHOLE_WITH_TWO_DECIMALS = new Set(['isk', 'ugx']);

const TWO_DECIMALS = new Set(
  (
    'usd aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bmd bnd bob brl bsd bwp byn bzd cad cdf chf cny cop ' +
    'crc cve czk dkk dop dzd egp etb eur fjd fkp gbp gel gip gmd gtq gyd hkd hnl htg huf idr ils inr jmd kes kgs khr ' +
    'kyd kzt lak lbp lkr lrd lsl mad mdl mkd mmk mnt mop mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd pab pen pgk ' +
    'php pkr pln qar ron rsd rub sar sbd scr sek sgd shp sle sos srd std szl thb tjs top try ttd twd tzs uah uyu uzs ' +
    'wst xcd yer zar zmw'
  ).split(' '),
);

/** Stripe's minimum charge, in the minor unit; 50 for others with two decimals. */
const LEAST: Readonly<Record<string, number>> = {
  aed: 200,
  bgn: 100,
  czk: 1_500,
  dkk: 250,
  gbp: 30,
  hkd: 400,
  huf: 17_500,
  mxn: 1_000,
  myr: 200,
  nok: 300,
  pln: 200,
  ron: 200,
  sek: 300,
  thb: 1_000,
};

const DEFAULT_LEAST = 50;

/** Stripe's largest charge of most currencies has eight digits. */
export const MOST = 99_999_999;

/** Decimals of an amount as Stripe writes it; undefined if Stripe doesn't know the currency. */
export function decimalsOf(currency: string): 0 | 2 | 3 | undefined {
  if (ZERO_DECIMALS.has(currency)) return 0;
  if (THREE_DECIMALS.has(currency)) return 3;
  return TWO_DECIMALS.has(currency) || WHOLE_WITH_TWO_DECIMALS.has(currency) ? 2 : undefined;
}

/** What amounts of this currency must be multiples of, as Stripe writes them. */
export function amountStep(currency: string): 1 | 10 | 100 {
  return THREE_DECIMALS.has(currency) ? 10 : WHOLE_WITH_TWO_DECIMALS.has(currency) ? 100 : 1;
}

/** Why Stripe would refuse to charge an amount; undefined if it wouldn't. `amount` is in the minor unit. */
export function amountFault(amount: number, currency: string): string | undefined {
  const step = amountStep(currency);
  const least = LEAST[currency] ?? DEFAULT_LEAST;
  if (amount < least) return `must be at least ${String(least)}, the minimum charge`;
  if (amount > MOST) return `must be at most ${String(MOST)}`;
  return amount % step === 0 ? undefined : `must be a multiple of ${String(step)} in this currency`;
}
