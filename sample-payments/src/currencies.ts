import { invalid } from './http/failure.ts';

/** Stripe's least charge of a currency in its minor unit; 50 for others (docs.stripe.com/currencies). */
const LEAST: Readonly<Record<string, number>> = {
  usd: 50,
  aed: 200,
  aud: 50,
  bgn: 100,
  brl: 50,
  cad: 50,
  chf: 50,
  czk: 1_500,
  dkk: 250,
  eur: 50,
  gbp: 30,
  hkd: 400,
  huf: 17_500,
  inr: 50,
  jpy: 50,
  mxn: 1_000,
  myr: 200,
  nok: 300,
  nzd: 50,
  pln: 200,
  ron: 200,
  sek: 300,
  sgd: 50,
  thb: 1_000,
};

const MOST = 99_999_999;

const CURRENCIES = new Set(
  (
    'usd aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bhd bif bmd bnd bob brl bsd bwp byn bzd cad cdf ' +
    'chf clp cny cop crc cve czk djf dkk dop dzd egp etb eur fjd fkp gbp gel gip gmd gnf gtq gyd hkd hnl hrk htg ' +
    'huf idr ils inr isk jmd jod jpy kes kgs khr kmf krw kwd kyd kzt lak lbp lkr lrd lsl mad mdl mga mkd mmk mnt ' +
    'mop mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd omr pab pen pgk php pkr pln pyg qar ron rsd rub rwf sar ' +
    'sbd scr sek sgd shp sle sos srd std szl thb tjs tnd top try ttd twd tzs uah ugx uyu uzs vnd vuv wst xaf xcd ' +
    'xof xpf yer zar zmw'
  ).split(' '),
);

const THREE_DECIMALS = new Set(['bhd', 'jod', 'kwd', 'omr', 'tnd']);
/** Written with two decimals, though they have none. */
const WHOLE_ONLY = new Set(['isk', 'ugx']);

export function checkCurrency(currency: string): string {
  const lower = currency.toLowerCase();
  if (!CURRENCIES.has(lower)) throw invalid(`Invalid currency: ${lower}.`, { param: 'currency' });
  return lower;
}

/** What is charged at once: within Stripe's bounds, and in steps that the currency has. */
export function checkCharge(amount: number, currency: string): void {
  const least = LEAST[currency] ?? 50;
  if (amount < least) {
    throw invalid(`The amount must be at least ${String(least)} in ${currency}.`, {
      code: 'amount_too_small',
    });
  }
  if (amount > MOST)
    throw invalid(`The amount must be at most ${String(MOST)}.`, { code: 'amount_too_large' });
  const step = THREE_DECIMALS.has(currency) ? 10 : WHOLE_ONLY.has(currency) ? 100 : 1;
  if (amount % step !== 0) throw invalid(`Invalid amount for ${currency}.`, { param: 'amount' });
}
