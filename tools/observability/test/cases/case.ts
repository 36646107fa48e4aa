/** Series in promtool's notation, one sample every `everyMin` (1). */
type Series = Readonly<Record<string, string>>;

/** The alert fires `at` that time with the first series, and doesn't with the second ones. */
export type AlertCase = { at: string; everyMin?: number; fires: Series; quiet: Series };

export type AlertCases = Readonly<Record<string, AlertCase>>;
