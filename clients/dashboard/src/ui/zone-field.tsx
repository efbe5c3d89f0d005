import { Field } from './form.js';

/** A zone of time, completed from those that the browser knows. */
export function ZoneField({
  label,
  zone,
  isRequired,
}: {
  label: string;
  zone: string;
  isRequired?: boolean;
}) {
  return (
    <Field label={label}>
      <input name="timezone" list="zones" defaultValue={zone} required={isRequired} autoComplete="off" />
      <datalist id="zones">
        {['UTC', ...Intl.supportedValuesOf('timeZone')].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </Field>
  );
}
