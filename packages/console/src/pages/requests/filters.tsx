import { explainCode } from '../../api/code-explanations.ts';
import { SelectField } from '../../ui/form/select-field.tsx';
import { ZoneField } from '../../ui/form/zone-field.tsx';
import type { RefusalCounts } from './queries.ts';
import { DEFAULT_RANGE, RANGES } from './search.ts';
import type { Range, RequestsSearch } from './search.ts';
import styles from './requests.module.css';

const ALL = 'all';

const RANGE_OPTIONS = Object.entries(RANGES).map(([value, { label }]) => ({ value, label }));

type FiltersProps = {
  search: RequestsSearch;
  counts: RefusalCounts | undefined;
  /** Those that occurred, whatever code is chosen. */
  codes: RefusalCounts['codes'];
  onShow: (search: RequestsSearch) => void;
};

/** Range, code and application, which are in the page's address. */
export function Filters({ search, counts, codes, onShow }: FiltersProps) {
  const { range = DEFAULT_RANGE, code = ALL, application } = search;
  const { code: _code, ...withoutCode } = search;
  const { application: _application, ...withoutApplication } = search;
  return (
    <div className={styles['filters']}>
      <SelectField
        label="Time"
        name="range"
        options={RANGE_OPTIONS}
        value={range}
        onChange={(value) => {
          onShow({ ...search, range: value as Range });
        }}
      />
      <SelectField
        label="Code"
        name="code"
        options={[{ value: ALL, label: 'All codes' }, ...codeOptions(codes, code)]}
        value={code}
        onChange={(value) => {
          onShow(value === ALL ? withoutCode : { ...search, code: value });
        }}
      />
      <SelectField
        label="Application"
        name="application"
        options={[{ value: ALL, label: 'All applications' }, ...applicationOptions(counts, application)]}
        value={application === undefined ? ALL : String(application)}
        onChange={(value) => {
          onShow(value === ALL ? withoutApplication : { ...search, application: Number(value) });
        }}
      />
      <ZoneField />
    </div>
  );
}

/** Most calls first. A code in the address that didn't occur is an option, too. */
function codeOptions(codes: RefusalCounts['codes'], chosen: string): { value: string; label: string }[] {
  const occurred = codes.map(({ code }) => code);
  const isThere = chosen === ALL || occurred.includes(chosen);
  return (isThere ? occurred : occurred.concat(chosen)).map((code) => ({
    value: code,
    label: explainCode(code).title,
  }));
}

function applicationOptions(counts: RefusalCounts | undefined, chosen: number | undefined) {
  const options = (counts?.applications ?? []).map((one) => ({
    value: String(one.application_id),
    label: applicationLabel(one.application_id, one),
  }));
  const isThere = chosen === undefined || options.some(({ value }) => value === String(chosen));
  return isThere ? options : [...options, { value: String(chosen), label: `Application ${String(chosen)}` }];
}

/** What a customer calls an application; the one of the temporary token is hidden elsewhere. */
export function applicationLabel(
  applicationId: number | null,
  { name, type }: { name: string | null; type: string | null },
): string {
  if (applicationId === null) return 'No application';
  if (type === 'temporary') return 'Temporary token';
  return name ?? `Application ${String(applicationId)}`;
}
