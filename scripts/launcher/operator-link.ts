/** Signs the sample operator in once. The launcher uses the operators' API like anyone with a credential. */
const SAMPLE = { name: 'Sample operator', email: 'operator@example.com', role: 'admin' };

type Operator = { operator_id: number; email: string | null };

/** @throws {Error} if account refuses */
export async function operatorLink(accountPrivateUrl: string, secret: string): Promise<string> {
  const authorization = `Basic ${Buffer.from(`operator:${secret}`).toString('base64')}`;
  const call = async <Answer>(method: string, path: string, body?: object): Promise<Answer> => {
    const response = await fetch(`${accountPrivateUrl}/private/operators${path}`, {
      method,
      headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`The sample operator failed: ${String(response.status)}`);
    return (await response.json()) as Answer;
  };
  const { operators } = await call<{ operators: Operator[] }>('GET', '?limit=200');
  const known = operators.find(({ email }) => email === SAMPLE.email);
  const { operator_id } = known ?? (await call<{ operator: Operator }>('POST', '', SAMPLE)).operator;
  const { url } = await call<{ url: string }>('POST', `/${String(operator_id)}/sign-in-link`);
  return url;
}
