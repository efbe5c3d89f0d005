import type { BootstrapView, CreateScheduleBody, ScheduleView } from '@consigliere/sdk';
import { useState } from 'react';
import { Field } from '../ui/form.js';
import { ZoneField } from '../ui/zone-field.js';
import { DAYS, eachOf, ruleOf } from './rule.js';

/** What is handed in, and when: "each Monday at 09:00, Europe/Berlin". */
export function ScheduleFields({ me, schedule }: { me: BootstrapView; schedule?: ScheduleView }) {
  const [each, setEach] = useState(schedule ? eachOf(schedule.rule) : 'mon');
  return (
    <>
      <Field label="Name">
        <input name="name" defaultValue={schedule?.name} required maxLength={120} />
      </Field>
      <Field label="What should be done each time">
        <textarea name="text" defaultValue={schedule?.directive.text} required maxLength={20_000} />
      </Field>
      <div className="beside">
        <Field label="Each">
          <select name="each" value={each} onChange={({ target }) => setEach(target.value)}>
            <option value="day">day</option>
            {Object.entries(DAYS).map(([day, name]) => (
              <option key={day} value={day}>
                {name}
              </option>
            ))}
            <option value="month">month</option>
          </select>
        </Field>
        {each === 'month' && (
          <Field label="On day" hint="29 to 31: the last one of a shorter month">
            <input
              name="on"
              type="number"
              min={1}
              max={31}
              required
              defaultValue={typeof schedule?.rule.on === 'number' ? schedule.rule.on : 1}
            />
          </Field>
        )}
        <Field label="At">
          <input name="at" type="time" required defaultValue={schedule?.rule.at ?? '09:00'} />
        </Field>
        <ZoneField
          label="By the clock of"
          zone={schedule?.rule.timezone ?? me.workspace.timezone}
          isRequired
        />
      </div>
      <Field label="Who does it" hint="capos are the built-in assistants that draft the work">
        <select name="capo" defaultValue={schedule?.directive.capo ?? ''}>
          <option value="">the best capo, chosen each time</option>
          {me.capos.map(({ role, name }) => (
            <option key={role} value={role}>
              {name}
            </option>
          ))}
        </select>
      </Field>
      <label className="check">
        <input type="checkbox" name="asks" defaultChecked={schedule?.directive.requiresApproval ?? true} />A
        person approves it each time, even where a standing order would let it go
      </label>
      <label className="check">
        <input type="checkbox" name="once" defaultChecked={(schedule?.missed ?? 'once') === 'once'} />
        If times were missed, after an outage say, do it once afterwards
      </label>
    </>
  );
}

/** The fields as the service takes them. */
export function bodyOf(texts: Record<string, string>, before?: ScheduleView): CreateScheduleBody {
  const { name, text, capo, asks, once } = texts;
  return {
    name: name!,
    directive: {
      ...(before && { priority: before.directive.priority, context: before.directive.context }),
      text: text!,
      ...(capo && { capo: capo as 'capo_ops' }),
      requiresApproval: asks !== undefined,
    },
    rule: ruleOf(texts),
    missed: once === undefined ? 'skip' : 'once',
  };
}
