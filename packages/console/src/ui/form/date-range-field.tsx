import { parseDate } from '@internationalized/date';
import { useState } from 'react';
import {
  CalendarCell,
  CalendarGrid,
  CalendarGridBody,
  CalendarGridHeader,
  CalendarHeaderCell,
  DateInput,
  DateRangePicker,
  DateSegment,
  Dialog,
  FieldError,
  Group,
  Heading,
  Label,
  Popover,
  RangeCalendar,
} from 'react-aria-components';
import { Button } from '../button.tsx';
import { utcFormat } from '../locale.ts';
import styles from './date-range-field.module.css';
import field from './field.module.css';

/** Days without a time zone, as `2026-11-01`; both inclusive. */
type Days = { from: string; to: string };

type DateRangeFieldProps = {
  label: string;
  value: Days;
  min: string;
  max: string;
  onChange: (days: Days) => void;
};

/** Two dates, typed or chosen in a calendar. Typed ones count once the focus leaves the field or on Enter. */
export function DateRangeField({ label, value, min, max, onChange }: DateRangeFieldProps) {
  const [draft, setDraft] = useState<Days | null>(null);
  const shown = draft ?? value;
  const isOutside = shown.from > shown.to || shown.from < min || shown.to > max;
  function commit(days: Days | null) {
    if (days === null) return;
    if (days.from > days.to || days.from < min || days.to > max) return;
    setDraft(null);
    if (days.from !== value.from || days.to !== value.to) onChange(days);
  }
  // Segments of the picker keep keys to themselves.
  return (
    <div
      onKeyDownCapture={({ key }) => {
        if (key === 'Enter') commit(draft);
      }}
    >
      <DateRangePicker
        className={field['field'] ?? ''}
        value={{ start: parseDate(shown.from), end: parseDate(shown.to) }}
        minValue={parseDate(min)}
        maxValue={parseDate(max)}
        isInvalid={isOutside}
        validationBehavior="aria"
        onChange={(range) => {
          if (range !== null) setDraft({ from: range.start.toString(), to: range.end.toString() });
        }}
        onBlur={() => {
          commit(draft);
        }}
        onOpenChange={(isOpen) => {
          if (!isOpen) commit(draft);
        }}
      >
        <Label className={field['label'] ?? ''}>{label}</Label>
        <Group className={styles['group'] ?? ''}>
          <DateInput slot="start" className={styles['input'] ?? ''}>
            {(segment) => <DateSegment segment={segment} className={styles['segment'] ?? ''} />}
          </DateInput>
          <span aria-hidden="true">–</span>
          <DateInput slot="end" className={styles['input'] ?? ''}>
            {(segment) => <DateSegment segment={segment} className={styles['segment'] ?? ''} />}
          </DateInput>
          <Button isReading variant="quiet">
            <CalendarIcon />
          </Button>
        </Group>
        <FieldError className={field['error'] ?? ''}>
          {`Choose days from ${formatted(min)} to ${formatted(max)}, the first one first.`}
        </FieldError>
        <Popover className={styles['popover'] ?? ''}>
          <Dialog className={styles['dialog'] ?? ''}>
            <Calendar />
          </Dialog>
        </Popover>
      </DateRangePicker>
    </div>
  );
}

const DAY = utcFormat({ dateStyle: 'medium' });

const formatted = (day: string) => DAY.format(new Date(`${day}T00:00:00Z`));

function Calendar() {
  return (
    <RangeCalendar className={styles['calendar'] ?? ''}>
      <header className={styles['header']}>
        <Button isReading slot="previous" variant="quiet">
          ‹
        </Button>
        <Heading level={3} />
        <Button isReading slot="next" variant="quiet">
          ›
        </Button>
      </header>
      <CalendarGrid>
        <CalendarGridHeader>
          {(day) => <CalendarHeaderCell className={styles['weekday'] ?? ''}>{day}</CalendarHeaderCell>}
        </CalendarGridHeader>
        <CalendarGridBody>
          {(date) => <CalendarCell date={date} className={styles['day'] ?? ''} />}
        </CalendarGridBody>
      </CalendarGrid>
    </RangeCalendar>
  );
}

function CalendarIcon() {
  return (
    <svg width={16} height={16} viewBox="0 0 16 16" fill="none" stroke="currentColor" aria-hidden="true">
      <path d="M2.5 3.5h11v10h-11zM2.5 6.5h11M5.5 1.5v3M10.5 1.5v3" />
    </svg>
  );
}
