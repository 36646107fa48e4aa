// What a customer's program does, in any runtime. It prints what it saw.
import { createClient, PlanError, RateLimitError, TollgateError } from '@tollgate/client';

const [url, limited, empty, wide] = JSON.parse(process.argv[2] ?? '');
const clientOf = ({ clientId, clientSecret }, more = {}) =>
  createClient({ url, clientId, clientSecret, ...more });
const JAPAN = '{ country(code: "JP") { name } }';
const failureOf = (work) => work.then(() => undefined).catch((error) => error);
const seen = {};

const client = clientOf(wide);
const { data, cost } = await client.request('query Land($code: ID!) { country(code: $code) { name } }', {
  code: 'CH',
});
seen.call = { data, cost };
seen.atOnce = (await Promise.all(Array.from({ length: 50 }, () => client.request(JAPAN)))).length;
seen.usage = (await client.usage()).billing_period.limits.points_limit;

const refused = await failureOf(clientOf(empty).request(JAPAN));
seen.refusal = [refused instanceof PlanError, refused.name, refused.code, refused.status, refused.limit];
const invalid = await failureOf(client.request('{ noSuchField }'));
seen.error = [invalid instanceof TollgateError, invalid.code];
seen.badSecret = (await failureOf(clientOf({ ...wide, clientSecret: 'wrong' }).request(JAPAN))).code;
const unreachable = createClient({ url: 'http://127.0.0.1:1', token: 't' });
seen.unreachable = (await failureOf(unreachable.request(JAPAN))).code;

// More than the plan's calls per minute allow at once.
const hasty = clientOf(limited, { maxWaitMs: 0 });
const burst = await Promise.all(Array.from({ length: 61 }, () => failureOf(hasty.request(JAPAN))));
const late = burst.find((error) => error !== undefined);
seen.rate = [late instanceof RateLimitError, late?.code, late?.retryAfterMs > 0];
// `Retry-After` says when.
seen.waited = (await clientOf(limited).request(JAPAN)).cost;

const aborted = new AbortController();
const work = failureOf(client.request(JAPAN, {}, { signal: aborted.signal }));
aborted.abort();
seen.aborted = (await work) === aborted.signal.reason;

seen.events = [];
const query = 'subscription { countryOfTheMoment(intervalMs: 100, times: 3) { code } }';
for await (const event of client.subscribe(query))
  seen.events.push(typeof event.data.countryOfTheMoment.code);
// One that its caller leaves.
const endless = 'subscription { countryOfTheMoment(intervalMs: 100, times: 600) { code } }';
for await (const event of client.subscribe(endless)) {
  seen.left = typeof event.data.countryOfTheMoment.code;
  break;
}
const nothing = clientOf(empty);
seen.noSubscription = (await failureOf(nothing.subscribe(endless).next())).code;
await Promise.all([client.close(), nothing.close()]);
console.log(JSON.stringify(seen));
