import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import type { Contract, ContractOperation, RealAnswer } from './contract.ts';
import { validValues } from './schema-values.ts';
import type { Schema } from './schema-values.ts';

export type FuzzRequest = {
  method: string;
  target: string;
  headers: Record<string, string>;
  body: string | undefined;
  /** Valid by the document's schemas, so any documented response may follow. */
  valid: boolean;
};

/** Headers, and existing values by the names of parameters and members. */
export type Caller = {
  headers: Record<string, string>;
  known: Readonly<Record<string, string | number>>;
};

type Body = { text: string; valid: boolean };

const FORM = 'application/x-www-form-urlencoded';

/** A request that succeeds, from the example and existing ids. */
export function goodRequest(operation: ContractOperation, { headers: own, known }: Caller): FuzzRequest {
  const { method, path, parameters = [], body } = operation;
  const needed = parameters.filter((parameter) => parameter.in === 'query' && parameter.required);
  const query = String(new URLSearchParams(needed.map(({ name }) => [name, String(known[name] ?? '')])));
  const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(known[name] ?? ''));
  const value = body === undefined ? {} : knownExample(body, known);
  const text = body?.type === FORM ? formOf(value, () => true).text : JSON.stringify(value);
  return {
    method,
    target: query === '' ? target : `${target}?${query}`,
    headers: { ...own, ...(body === undefined ? {} : { 'content-type': body.type }) },
    body: body === undefined ? undefined : text,
    valid: true,
  };
}

export function requestsOf(
  operation: ContractOperation,
  caller: Caller,
  contract: Contract,
): Arbitrary<FuzzRequest> {
  return fc
    .record({
      path: paths(operation, caller, contract),
      query: queries(operation, contract),
      body: bodies(operation, caller, contract),
      headers: headers(operation, caller),
    })
    .map(({ path, query, body, headers: sent }) => ({
      method: operation.method,
      target: query.text === '' ? path : `${path}?${query.text}`,
      headers: sent.headers,
      body: body?.text,
      valid: query.valid && (body?.valid ?? true) && sent.valid,
    }));
}

/** Two of three segments name something that exists, if possible. */
function paths(
  { path, parameters = [] }: ContractOperation,
  { known }: Caller,
  { schemas }: Contract,
): Arbitrary<string> {
  const segments = parameters
    .filter((parameter) => parameter.in === 'path')
    .map(({ name, schema }) => {
      const valid = validValues(schema as Schema, schemas).map(String);
      const odd = fc.oneof(
        valid,
        fc.string({ unit: 'binary', minLength: 1 }),
        fc.constantFrom('0', '-1', '1e3', '٣'),
      );
      const any = odd.map((value) => encodeURIComponent(value).replaceAll(/^\.+$/g, '%2E'));
      const there = known[name];
      const chosen =
        there === undefined ? any : fc.oneof({ weight: 2, arbitrary: fc.constant(String(there)) }, any);
      return chosen.map((value) => [name, value] as const);
    });
  return fc
    .tuple(...segments)
    .map((chosen) => chosen.reduce((whole, [name, value]) => whole.replace(`{${name}}`, value), path));
}

function queries({ parameters = [] }: ContractOperation, { schemas }: Contract): Arbitrary<Body> {
  const ofQuery = parameters.filter((parameter) => parameter.in === 'query');
  const schema = {
    type: 'object',
    properties: Object.fromEntries(ofQuery.map((parameter) => [parameter.name, parameter.schema as Schema])),
    required: ofQuery.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
  const good = (validValues(schema, schemas) as Arbitrary<Record<string, unknown>>).map((values) => ({
    text: String(new URLSearchParams(Object.entries(values).map(([name, value]) => [name, String(value)]))),
    valid: true,
  }));
  const names = [...ofQuery.map(({ name }) => name), 'limit', 'odd', '__proto__'];
  const odd = fc
    .array(fc.tuple(fc.constantFrom(...names), fc.string({ unit: 'binary', maxLength: 20 })), {
      minLength: 1,
      maxLength: 3,
    })
    // Odd pairs may be valid by chance.
    .map((pairs) => ({ text: String(new URLSearchParams(pairs)), valid: true }));
  return fc.oneof({ weight: 3, arbitrary: good }, odd);
}

function bodies(
  operation: ContractOperation,
  caller: Caller,
  contract: Contract,
): Arbitrary<Body | undefined> {
  const { body, method } = operation;
  if (method === 'GET') return fc.constant(undefined);
  // The body is ignored.
  if (body === undefined) return fc.constantFrom(undefined, { text: '{}', valid: true });
  const schema = body.schema as Schema;
  const valid = validValues(schema, contract.schemas, caller.known) as Arbitrary<Record<string, unknown>>;
  const example = knownExample(body, caller.known);
  const values = fc.oneof(fc.constant(example), valid, broken(valid), fc.jsonValue());
  if (body.type === FORM) {
    return values.map((value) => formOf(value, (form) => isValid(contract, body.schema, form)));
  }
  const written = values.map((value) => ({
    text: JSON.stringify(value),
    valid: isValid(contract, body.schema, value),
  }));
  const torn = written.map(({ text }) => ({ text: text.slice(0, -1), valid: false }));
  const long = fc.constant({ text: JSON.stringify({ name: 'x'.repeat(20_000) }), valid: false });
  return fc.oneof({ weight: 8, arbitrary: written }, torn, long);
}

/** The document's example, with existing ids in place of its own. */
function knownExample(
  { example }: NonNullable<ContractOperation['body']>,
  known: Caller['known'],
): Record<string, unknown> {
  const members = Object.entries(example as Record<string, unknown>);
  return Object.fromEntries(members.map(([name, value]) => [name, known[name] ?? value]));
}

function isValid(contract: Contract, schema: Record<string, unknown>, value: unknown): boolean {
  return contract.faultsOf(schema, value).length === 0;
}

/** A body with one member missing, of another type, or unknown. */
function broken(valid: Arbitrary<Record<string, unknown>>): Arbitrary<unknown> {
  const changes = fc.record({
    pick: fc.nat(),
    value: fc.jsonValue(),
    kind: fc.constantFrom('drop', 'change', 'add'),
  });
  return fc.tuple(valid, changes).map(([body, { pick, value, kind }]) => {
    const names = Object.keys(body);
    const name = names[pick % Math.max(names.length, 1)] ?? 'name';
    const { [name]: _, ...rest } = body;
    if (kind === 'drop') return rest;
    return kind === 'change' ? { ...rest, [name]: value } : { ...body, odd: value };
  });
}

function formOf(value: unknown, valid: (form: Record<string, string>) => boolean): Body {
  const members =
    typeof value === 'object' && value !== null ? Object.entries(value) : [['', String(value)] as const];
  const pairs = members.map(([name, member]): [string, string] => [
    name,
    typeof member === 'string' ? member : JSON.stringify(member),
  ]);
  return { text: String(new URLSearchParams(pairs)), valid: valid(Object.fromEntries(pairs)) };
}

/** Mostly the caller's own; otherwise one is missing or odd, for which alone the request may be refused. */
function headers(
  { body }: ContractOperation,
  caller: Caller,
): Arbitrary<{ headers: Record<string, string>; valid: boolean }> {
  const own = { ...caller.headers, ...(body === undefined ? {} : { 'content-type': body.type }) };
  const names = [
    ...Object.keys(own),
    'origin',
    'accept',
    'content-encoding',
    'sec-fetch-site',
    'if-none-match',
  ];
  const odd = fc
    .tuple(fc.constantFrom(...names), fc.option(fc.stringMatching(/^[!-~]{0,40}$/), { nil: undefined }))
    .map(([name, value]) => {
      const { [name]: _, ...rest } = own as Record<string, string>;
      return { headers: value === undefined ? rest : { ...rest, [name]: value }, valid: true };
    });
  return fc.oneof({ weight: 4, arbitrary: fc.constant({ headers: own, valid: true }) }, odd);
}

export async function send(
  url: string,
  { method, target, headers: sent, body }: FuzzRequest,
): Promise<RealAnswer> {
  const response = await fetch(`${url}${target}`, {
    method,
    headers: sent,
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
  });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const text = isStream ? await firstEvent(response) : await response.text();
  return { status: response.status, headers: response.headers, text };
}

/** An event stream doesn't end by itself. */
async function firstEvent({ body }: Response): Promise<string> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  const { value = '' } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return value;
}
