import { EXPLAINED_CODES, explainCode } from '../../api/code-explanations.ts';
import { SelectField } from '../../ui/form/select-field.tsx';
import type { RefusalCounts } from './queries.ts';
import { DEFAULT_RANGE, RANGES } from './search.ts';
import type { Range, RequestsSearch } from './search.ts';
import styles from './requests.module.css';

const ALL = 'all';

const RANGE_OPTIONS = Object.entries(RANGES).map(([value, { label }]) => ({ value, label }));

type FiltersProps = {
  search: RequestsSearch;
  counts: RefusalCounts | undefined;
  onShow: (search: RequestsSearch) => void;
};

/** Range, code and application, which are in the page's address. */
export function Filters({ search, counts, onShow }: FiltersProps) {
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
        options={[{ value: ALL, label: 'All codes' }, ...codeOptions(code)]}
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
    </div>
  );
}

/** A code in the address that this build doesn't know is an option, too. */
function codeOptions(chosen: string): { value: string; label: string }[] {
  const known = EXPLAINED_CODES.map(({ code, title }) => ({ value: code, label: title }));
  const isKnown = chosen === ALL || known.some(({ value }) => value === chosen);
  return isKnown ? known : [...known, { value: chosen, label: explainCode(chosen).title }];
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
