import { useSyncExternalStore } from 'react';
import { SelectField } from './select-field.tsx';
import { LOCAL_ZONE, chooseZone, currentZone, onZoneChange } from '../locale.ts';
import type { Zone } from '../locale.ts';

/** The zone of times. A page that has the field reads it, so that its times change with it. */
export function useZone(): Zone {
  return useSyncExternalStore(onZoneChange, currentZone);
}

/** Whether times are in UTC or where the reader is; nothing where that is the same. */
export function ZoneField() {
  const zone = useZone();
  if (LOCAL_ZONE === 'UTC') return null;
  return (
    <SelectField
      label="Time zone"
      name="zone"
      value={zone}
      options={[
        { value: 'utc', label: 'UTC' },
        { value: 'local', label: `Local (${LOCAL_ZONE})` },
      ]}
      onChange={(chosen) => {
        chooseZone(chosen === 'local' ? 'local' : 'utc');
      }}
    />
  );
}
