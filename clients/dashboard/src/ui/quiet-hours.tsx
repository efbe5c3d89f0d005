import type { FormEvent } from 'react';
import { Field } from './form.js';

interface Hours {
  from: string;
  to: string;
}

/** When only what is urgent is mailed: from one time of the day until another, or never. */
export function QuietHours({ hours, timezone }: { hours: Hours | null; timezone: string }) {
  const checkBoth = ({ currentTarget }: FormEvent<HTMLFieldSetElement>) => {
    const fields = [...currentTarget.querySelectorAll('input')];
    const isHalf = fields.some(({ value }) => value === '') && fields.some(({ value }) => value !== '');
    for (const field of fields)
      field.setCustomValidity(isHalf && field.value === '' ? 'Give both times, or neither.' : '');
  };
  return (
    <fieldset onInput={checkBoth}>
      <legend>Quiet hours: of approvals and escalations, only urgent ones are mailed ({timezone})</legend>
      <div className="beside">
        <Field label="Quiet from" hint="leave both empty for none">
          <input name="from" type="time" defaultValue={hours?.from} />
        </Field>
        <Field label="Quiet until">
          <input name="to" type="time" defaultValue={hours?.to} />
        </Field>
      </div>
    </fieldset>
  );
}

/** The quiet hours that were typed, null where there are to be none; undefined where they are as they were. */
export function changedHours(texts: Record<string, string>, shown: Hours | null): Hours | null | undefined {
  const { from = '', to = '' } = texts;
  if (from === (shown?.from ?? '') && to === (shown?.to ?? '')) return undefined;
  return from === '' ? null : { from, to };
}
