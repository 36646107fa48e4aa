/** Lines that an invoice states itself; the list of its lines has all. */
const MOST = 10;

/** For JSON.stringify. */
export function stateFirstLines(_name: string, value: unknown): unknown {
  if (!isLongInvoice(value)) return value;
  const { lines } = value;
  return { ...value, lines: { ...lines, data: lines.data.slice(0, MOST), has_more: true } };
}

type Lined = { object: 'invoice'; lines: { data: unknown[] } };

function isLongInvoice(value: unknown): value is Lined {
  return (
    typeof value === 'object' &&
    value !== null &&
    'object' in value &&
    value.object === 'invoice' &&
    (value as Lined).lines.data.length > MOST
  );
}
